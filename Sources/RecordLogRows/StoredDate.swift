import RecordLog

/// A point in time as rows store it: seconds since 2001-01-01 UTC.
///
/// `Foundation.Date` has the same number: `Date(timeIntervalSinceReferenceDate: stored.secondsSinceReferenceDate)`.
public struct StoredDate: Hashable, Comparable, Sendable {
    public var secondsSinceReferenceDate: Double

    public init(secondsSinceReferenceDate seconds: Double) {
        secondsSinceReferenceDate = seconds
    }

    public init(secondsSince1970 seconds: Double) {
        secondsSinceReferenceDate = seconds - Self.referenceDateSince1970
    }

    public var secondsSince1970: Double { secondsSinceReferenceDate + Self.referenceDateSince1970 }

    private static let referenceDateSince1970 = 978_307_200.0

    public static func < (a: StoredDate, b: StoredDate) -> Bool { a.secondsSinceReferenceDate < b.secondsSinceReferenceDate }
}

extension StoredDate: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .date }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> StoredDate? {
        StoredDate(secondsSinceReferenceDate: row.double(access))
    }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, double: secondsSinceReferenceDate)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(double: secondsSinceReferenceDate, descending: descending) }
}

import Foundation

/// An object that is no property's value but can be ordered among objects of its class.
protocol OrderedObject: AnyObject {
    /// nil if the other object has another class, or if the two have no order.
    func ordered(beside other: AnyObject) -> ComparisonResult?
}

extension PredicateValue {
    /// The order of two values of similar kinds; nil if they have none, as with null.
    ///
    /// Numbers compare by value across types, text by its UTF-8 bytes.
    func ordered(_ other: PredicateValue) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): Self.compare(a, b)
        case (.bool(let a), .bool(let b)): Self.compare(a ? 1 : 0, b ? 1 : 0)
        case (.bool(let a), _) where other.isNumber: PredicateValue.integer(a ? 1 : 0).ordered(other)
        case (_, .bool(let b)) where isNumber: ordered(.integer(b ? 1 : 0))
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : Self.compare(a, b)
        case (.integer(let a), .double(let b)): Self.compare(a, b)
        case (.double(let a), .integer(let b)): Self.compare(b, a).map(Self.reverse)
        case (.decimal(let a), .double(let b)) where Decimal(finite: b) == nil: PredicateValue.double(a.double).ordered(other)
        case (.double(let a), .decimal(let b)) where Decimal(finite: a) == nil: ordered(.double(b.double))
        case (.decimal(let a), _): other.asDecimal.flatMap { Self.compareDecimals(a, $0) }
        case (_, .decimal(let b)): asDecimal.flatMap { Self.compareDecimals($0, b) }
        case (.text(let a), .text(let b)): Self.compareBytes(a.utf8, b.utf8)
        case (.date(let a), .date(let b)): a.isNaN || b.isNaN ? nil : Self.compare(a, b)
        case (.data(let a), .data(let b)): Self.compareBytes(a, b)
        case (.uuid(let a), .uuid(let b)): Self.compareBytes(a.uuidString.utf8, b.uuidString.utf8)
        case (.url(let a), .url(let b)): Self.compareBytes(a.absoluteString.utf8, b.absoluteString.utf8)
        case (.url(let a), .text(let b)): Self.compareBytes(a.absoluteString.utf8, b.utf8)
        case (.text(let a), .url(let b)): Self.compareBytes(a.utf8, b.absoluteString.utf8)
        case (.other(let a), .other(let b)): (a as? any OrderedObject)?.ordered(beside: b)
        default: nil
        }
    }

    /// Whether this is a number or date whose value is NaN, which has no order.
    var isNotANumber: Bool {
        switch self {
        case .double(let value), .date(let value): value.isNaN
        case .decimal(let value): value.isNaN
        default: false
        }
    }

    private var isNumber: Bool {
        switch self {
        case .integer, .double, .decimal, .bool: true
        default: false
        }
    }

    /// nil for a value that no decimal is equal to.
    var asDecimal: Decimal? {
        switch self {
        case .decimal(let value): value
        case .integer(let value): Decimal(value)
        case .double(let value): Decimal(finite: value)
        case .bool(let value): value ? 1 : 0
        default: nil
        }
    }

    /// Equality as in `==`: null equals only null.
    func isEqual(_ other: PredicateValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.null, _), (_, .null): false
        case (.object(let a), .object(let b)): a === b || a.objectID == b.objectID
        case (.object(let a), .objectID(let b)): a.objectID == b
        case (.objectID(let a), .object(let b)): a == b.objectID
        case (.objectID(let a), .objectID(let b)): a == b
        case (.other(let a), .other(let b)): a === b || (a as? NSObject)?.isEqual(b) ?? false
        case (.collection(let a), .collection(let b)):
            // The members of a relationship are in no particular order.
            a.count == b.count
                && (zip(a, b).allSatisfy { $0.isEqual($1) } || Self.objectIDs(a).map { $0 == Self.objectIDs(b) } ?? false)
        default: ordered(other) == .orderedSame
        }
    }

    /// nil unless all members are objects or object IDs.
    private static func objectIDs(_ members: [PredicateValue]) -> Set<NSManagedObjectID>? {
        var result: Set<NSManagedObjectID> = []
        for member in members {
            switch member {
            case .object(let object): result.insert(object.objectID)
            case .objectID(let id): result.insert(id)
            default: return nil
            }
        }
        return result
    }

    private static func compare<Value: Comparable>(_ a: Value, _ b: Value) -> ComparisonResult {
        a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
    }

    private static func compareDecimals(_ a: Decimal, _ b: Decimal) -> ComparisonResult? {
        a.isNaN || b.isNaN ? nil : compare(a, b)
    }

    /// Compares exactly; converting the integer to a double could round it.
    private static func compare(_ a: Int64, _ b: Double) -> ComparisonResult? {
        if b.isNaN { return nil }
        if b >= 0x1p63 { return .orderedAscending }
        if b < -0x1p63 { return .orderedDescending }
        let whole = Int64(b.rounded(.down))
        return a != whole ? compare(a, whole) : b > b.rounded(.down) ? .orderedAscending : .orderedSame
    }

    private static func reverse(_ order: ComparisonResult) -> ComparisonResult {
        switch order {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }

    private static func compareBytes<Bytes: Sequence<UInt8>>(_ a: Bytes, _ b: Bytes) -> ComparisonResult {
        if a.elementsEqual(b) { return .orderedSame }
        return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
    }

    private static func compareBytes<A: Sequence<UInt8>, B: Sequence<UInt8>>(_ a: A, _ b: B) -> ComparisonResult {
        if a.elementsEqual(b) { return .orderedSame }
        return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
    }
}

extension Decimal {
    /// nil for NaN and for a number that is too large for a decimal or too near to zero.
    init?(finite value: Double) {
        guard abs(value) < 1e127 else { return nil }
        self.init(value)
        if isNaN { return nil }
    }

    var double: Double { NSDecimalNumber(decimal: self).doubleValue }

    /// The greatest whole number that is not above this.
    var roundedDown: Decimal {
        var source = self, result = Decimal()
        NSDecimalRound(&result, &source, 0, .down)
        return result
    }
}

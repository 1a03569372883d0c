import Foundation
import RecordLog

extension ManagedValue {
    /// Decodes one column. The caller has checked that it is not null. External data become null here; the caller reads them.
    package init(row: UnsafeRowView, access: ColumnAccess, kind: PropertyKind, slotBase: UInt64) {
        switch kind {
        case .bool: self = .bool(row.int64(access) != 0)
        case .int16, .int32, .int64: self = .integer(row.int64(access))
        case .float, .double: self = .double(row.double(access))
        case .date: self = .date(row.double(access))
        case .string: self = .text(String(stored: row.bytes(access)))
        case .data, .transformable: self = .data(Data(row.bytes(access)))
        case .uuid: self = .uuid(UUID(storedBytes: row.uuid(access)))
        case .decimal: self = .decimal(NSDecimalNumber(decimal: Decimal(row.decimal(access))))
        case .uri:
            let text = String(stored: row.bytes(access))
            self = URL(string: text).map(ManagedValue.url) ?? .null
        case .toOne:
            let reference = row.reference(access)
            self = reference.isNone ? .null : .reference(ObjectKey(rawValue: reference.rawValue &+ slotBase))
        case .toMany, .externalData, .objectID, .undefined: self = .null
        }
    }

    /// Encodes an attribute's value into a row. The store encodes references and external data, and converts transformable values first
    /// (`transformed`).
    package func encode(into builder: RowBuilder, at position: Int) throws {
        switch self {
        case .unset, .toMany, .reference: break
        case .null: builder.setNull(position)
        case .bool(let value): builder.set(position, bool: value)
        case .integer(let value): builder.set(position, int64: value)
        case .double(let value), .date(let value): builder.set(position, double: value)
        case .text(let value): builder.set(position, text: value)
        case .data(let value): value.withUnsafeBytes { builder.set(position, bytes: $0) }
        case .uuid(let value): builder.set(position, uuid: value.storedBytes)
        case .decimal(let value): builder.set(position, decimal: StoredDecimal(value.decimalValue))
        case .url(let value): builder.set(position, text: value.absoluteString)
        case .object: preconditionFailure("a store asks for the bytes of a transformable's value first")
        }
    }

    /// Returns the value as a row stores it: for a transformable, its bytes, or null where its transformer returns none.
    /// - Throws: 1550 where its transformer is missing or fails; 1610 or 1620 for a number that does not fit, which validation was kept from
    ///   refusing.
    @inline(__always)
    package func transformed(_ property: Int, of entity: NSEntityDescription, _ object: (any EntityObject)? = nil) throws -> ManagedValue {
        guard case .object(let value) = self else { return self }
        if let number = AttributeCoding.unfitNumber(value, PropertyKind(entity.propertiesByIndex[property])) {
            let description = entity.propertiesByIndex[property]
            throw CoreDataError.make(
                AttributeCoding.unfitCode(number),
                AttributeCoding.mismatch(number, description.name, PropertyKind(description), entity: entity))
        }
        return try AttributeTransformer.data(value, of: entity.propertiesByIndex[property], object).map(ManagedValue.data) ?? .null
    }
}

extension RowBuilder {
    /// Begins a new version of a row with the row's current values. A row of an older layout is converted to the current one.
    package func begin(_ table: EntityTable, revising row: UnsafeRowView) throws {
        guard row.layoutID != table.layout.id else { return begin(table.layout, copying: row, of: table.layout) }
        let accesses = try table.accesses(of: row)
        begin(table.layout)
        for (property, position) in table.positions.enumerated() {
            guard let position, !accesses[property].isAbsent, !row.isNull(accesses[property]) else { continue }
            copy(position, from: row, accesses[property])
        }
    }
}

extension UUID {
    /// Creates a UUID from its 16 bytes in memory order, as two words.
    package init(storedBytes: (UInt64, UInt64)) {
        var bytes = storedBytes
        self = withUnsafeBytes(of: &bytes) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    package var storedBytes: (UInt64, UInt64) {
        var bytes = uuid
        return withUnsafeBytes(of: &bytes) {
            ($0.loadUnaligned(fromByteOffset: 0, as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}

extension Decimal {
    package init(_ stored: StoredDecimal) {
        guard !stored.isNaN else {
            self = .nan
            return
        }
        var digits = Decimal(UInt64(truncatingIfNeeded: stored.mantissa >> 64)) * Decimal(sign: .plus, exponent: 0, significand: Decimal.twoToThe64)
        digits += Decimal(UInt64(truncatingIfNeeded: stored.mantissa))
        self = Decimal(sign: stored.isNegative ? .minus : .plus, exponent: Int(stored.exponent), significand: digits)
    }

    private static let twoToThe64 = Decimal(UInt64.max) + 1
}

extension StoredDecimal {
    package init(_ decimal: Decimal) {
        guard !decimal.isNaN else {
            self = StoredDecimal(mantissa: 0, exponent: 0, isNegative: false, isNaN: true)
            return
        }
        var mantissa: UInt128 = 0
        let words = decimal.mantissaWords
        for word in words.reversed() { mantissa = mantissa << 16 | UInt128(word) }
        self = StoredDecimal(
            mantissa: mantissa, exponent: Int16(clamping: decimal.exponent), isNegative: decimal.isSignMinus, isNaN: false)
    }
}

extension Decimal {
    /// The mantissa in words of 16 bits, least significant first.
    fileprivate var mantissaWords: [UInt16] {
        var words: [UInt16] = []
        var rest = Decimal(sign: .plus, exponent: 0, significand: significand)
        rest = Swift.abs(rest)
        let base = Decimal(65536)
        for _ in 0..<8 {
            var quotient = rest / base
            var whole = Decimal()
            NSDecimalRound(&whole, &quotient, 0, .down)
            var word = rest - whole * base
            // The quotient has 38 digits and may have been rounded up to a whole number.
            if word < 0 {
                whole -= 1
                word += base
            }
            words.append(UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: word).intValue))
            rest = whole
            if rest == 0 { break }
        }
        return words
    }
}

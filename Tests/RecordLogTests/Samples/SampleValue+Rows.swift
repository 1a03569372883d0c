import HeartwoodTestSupport

@testable import RecordLog

extension ValueDomain {
    /// A value for a column of this type.
    func draw(column type: ColumnType, from old: SampleValue? = nil, _ random: inout SeededGenerator) -> SampleValue? {
        let kind: Kind
        switch type {
        case .bool: kind = .flag
        case .int16: kind = .integer(bits: 16)
        case .int32: kind = .integer(bits: 32)
        case .int64: kind = .integer(bits: 64)
        case .double, .date: kind = .double
        case .uuid: kind = .uuid
        case .text: kind = .text
        case .bytes, .value: kind = .bytes
        case .float, .reference, .decimal: return nil
        }
        return draw(kind, from: old, &random)
    }
}

extension SampleValue {
    /// Sets a column of another type than `value`.
    func set(_ position: Int, in builder: RowBuilder) {
        switch self {
        case .flag(let value): builder.set(position, bool: value)
        case .integer(let value): builder.set(position, int64: value)
        case .double(let bits): builder.set(position, double: Double(bitPattern: bits))
        case .uuid(let high, let low): builder.set(position, uuid: (high, low))
        case .text(let value): builder.set(position, text: value)
        case .bytes(let value): value.withUnsafeBytes { builder.set(position, bytes: $0) }
        }
    }

    /// Reads a row's column of a type for which `ValueDomain` draws values, except `value`; nil for null.
    init?(_ row: UnsafeRowView, _ access: ColumnAccess) {
        guard !row.isNull(access) else { return nil }
        switch access.type {
        case .bool: self = .flag(row.int64(access) == 1)
        case .int16, .int32, .int64: self = .integer(row.int64(access))
        case .double, .date: self = .double(row.double(access))
        case .uuid: self = .uuid(row.uuid(access).0, row.uuid(access).1)
        case .text: self = .text(String(decoding: row.bytes(access), as: UTF8.self))
        default: self = .bytes(Array(row.bytes(access)))
        }
    }
}

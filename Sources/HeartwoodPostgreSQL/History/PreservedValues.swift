import Foundation
import Heartwood
import RecordLog

/// The values that the history keeps of a deleted object, as JSON: names with texts.
enum PreservedValues {
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - Returns: nil where the entity preserves nothing, or the values are null.
    /// - Parameter large: reads data that the row has a mark of.
    static func text(
        of row: UnsafeRowView, _ entity: BoundEntity, slotBase: UInt64, _ large: (ColumnAccess, UnsafeRowView) throws -> Data?
    ) throws -> String? {
        let runtime = entity.table.runtime, accesses = try entity.table.accesses(of: row)
        var kept: [String: String] = [:]
        for field in entity.fields where runtime.isPreserved(field.property) {
            let access = accesses[field.property]
            guard !access.isAbsent, !row.isNull(access) else { continue }
            let value = field.kind == .externalData
                ? try large(access, row).map(ManagedValue.data) ?? .null
                : ManagedValue(row: row, access: access, kind: field.kind, slotBase: slotBase)
            kept[runtime.properties[field.property].name] = text(value)
        }
        return kept.isEmpty ? nil : try json(kept)
    }

    private static func text(_ value: ManagedValue) -> String? {
        switch value {
        case .unset, .null, .toMany, .object, .reference: nil
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): "\(number)"
        // The shortest text that reads as the same number.
        case .double(let number), .date(let number): "\(number)"
        case .text(let text): text
        case .url(let url): url.absoluteString
        case .data(let data): data.base64EncodedString()
        case .uuid(let uuid): uuid.uuidString
        case .decimal(let number): number.decimalValue.description
        }
    }

    /// The values as the stack has them; nil for none.
    static func tombstone(_ json: String, _ runtime: EntityRuntime) -> [AnyHashable: Any]? {
        guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(json.utf8)) else { return nil }
        var values: [String: Any] = [:]
        for (name, text) in texts {
            guard let index = runtime.index(of: name) else { continue }
            let kind = runtime.properties[index].kind
            values[name] = AttributeCoding.object(value(text, kind), property: runtime.entity.propertiesByIndex[index], kind: kind)
        }
        return values.isEmpty ? nil : runtime.nested(values)
    }

    private static func value(_ text: String, _ kind: PropertyKind) -> ManagedValue {
        let value: ManagedValue? = switch kind {
        case .bool: .bool(text == "true")
        case .int16, .int32, .int64: Int64(text).map(ManagedValue.integer)
        case .float, .double: Double(text).map(ManagedValue.double)
        case .date: Double(text).map(ManagedValue.date)
        case .string: .text(text)
        case .uri: URL(string: text).map(ManagedValue.url)
        case .data, .externalData, .transformable: Data(base64Encoded: text).map(ManagedValue.data)
        case .uuid: UUID(uuidString: text).map(ManagedValue.uuid)
        case .decimal: Decimal(string: text).map { .decimal(NSDecimalNumber(decimal: $0)) }
        case .objectID, .undefined, .toOne, .toMany: nil
        }
        return value ?? .null
    }
}

import Foundation
import Heartwood

/// Encoded values in binary data.
enum JSONForm {
    /// Sorted keys: equal values have equal bytes, so that a save sees no difference where there is none.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(value)
    }

    /// Decodes JSON, a property list, or an archive of Foundation's objects. Only JSON was met in stores that SwiftData made.
    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        guard data.starts(with: Data("bplist".utf8)) else { return try decodeJSON(type, from: data) }
        let archive = NSAttributeDescription()
        archive.attributeType = .transformableAttributeType
        guard let object = archive.value(fromTransformedData: data) else { return try PropertyListDecoder().decode(type, from: data) }
        return try ObjectForm.decode(type, from: object)
    }

    static func decodeJSON<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(type, from: data)
    }
}

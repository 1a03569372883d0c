import Foundation
import RecordLog

/// Decodes rows, or objects where rows do not suffice, as values of a caller's `Decodable` type. One decoder serves all rows of a fetch.
///
/// A type decodes its properties in one order for each row, so a key is first compared with the one that followed last time.
final class RowDecoder: Decoder {
    /// Thrown where a value cannot be read from rows: all rows are then read anew, as objects.
    struct NeedsObjects: Error {}

    private struct Property {
        let name: String
        let type: ObjectIdentifier
        let column: ValueColumn
        /// The column's index in the reader; nil where objects are read.
        let index: Int?
        /// Whether the caller's type has to decode itself from the value.
        let isDecoded: Bool
    }

    /// Reads a value from an object: the context's, with its changes.
    typealias ObjectValue = (ValueColumn, NSManagedObject) throws -> (PredicateValue, isMissing: Bool)

    private enum Place {
        case none
        case row(UnsafeRowView)
        case object(NSManagedObject)
    }

    let entity: NSEntityDescription
    private let reader: ValueBatchReader?
    private let mayRead: (ValueColumn) -> Bool
    private let value: ObjectValue
    private var place = Place.none
    private var known: [Property] = []
    private var cursor = 0
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// - Parameters:
    ///   - reader: nil where objects are read.
    ///   - mayRead: whether the rows have a column as the context sees it.
    init(_ entity: NSEntityDescription, _ reader: ValueBatchReader?, mayRead: @escaping (ValueColumn) -> Bool, value: @escaping ObjectValue) {
        (self.entity, self.reader, self.mayRead, self.value) = (entity, reader, mayRead, value)
    }

    func decode<Row: Decodable>(_ type: Row.Type, _ row: UnsafeRowView) throws -> Row { try decode(type, .row(row)) }
    func decode<Row: Decodable>(_ type: Row.Type, _ object: NSManagedObject) throws -> Row { try decode(type, .object(object)) }

    private func decode<Row: Decodable>(_ type: Row.Type, _ place: Place) throws -> Row {
        self.place = place
        cursor = 0
        return try Row(from: self)
    }

    // MARK: Values

    /// - Parameter given: the type of the value, an optional for one that may be missing.
    func value<Value>(_ key: any CodingKey, _ given: Value.Type) throws -> Value {
        let property = try property(key, given)
        guard !property.isDecoded else { throw mismatch(key, given, "it is a single value of another type") }
        return try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
            guard let cell = memory.baseAddress else { throw mismatch(key, given, "it has no size") }
            do {
                switch place {
                case .row(let row):
                    guard let reader, let index = property.index else { throw NeedsObjects() }
                    try reader.read(index, of: row, into: cell)
                case .object(let object):
                    let (found, isMissing) = try value(property.column, object)
                    try property.column.put(found, at: cell, isMissing: isMissing)
                case .none: throw mismatch(key, given, "no row is being decoded")
                }
            } catch let fault as ColumnFault {
                throw error(fault, key, given)
            }
            return cell.move()
        }
    }

    /// Whether the caller's type has to decode itself from the value of a key.
    func isDecoded<Value>(_ key: any CodingKey, _ given: Value.Type) throws -> Bool { try property(key, given).isDecoded }

    func isNull(_ key: any CodingKey) throws -> Bool { try value(key, Any?.self) == nil }

    func has(_ key: any CodingKey) -> Bool { (try? ColumnReader(entity: entity).column(key.stringValue)) != nil }

    private func property<Value>(_ key: any CodingKey, _ given: Value.Type) throws -> Property {
        let name = key.stringValue, type = ObjectIdentifier(given)
        func isIt(_ property: Property) -> Bool { property.type == type && property.name == name }
        if cursor < known.count, isIt(known[cursor]) {
            cursor += 1
            return known[cursor - 1]
        }
        if let index = known.firstIndex(where: isIt) {
            cursor = index + 1
            return known[index]
        }
        let column: ValueColumn
        do { column = try ValueColumn(name, given, entity) } catch {
            let context = DecodingError.Context(codingPath: [key], debugDescription: (error as NSError).localizedDescription, underlyingError: error)
            throw has(key) ? DecodingError.typeMismatch(given, context) : .keyNotFound(key, context)
        }
        var index: Int?
        if let reader {
            guard mayRead(column), let added = reader.add(column) else { throw NeedsObjects() }
            index = added
        }
        let isDecoded = column.isCast && !column.isObject && column.valueType != Any.self && column.valueType is any Decodable.Type
        known.append(Property(name: name, type: type, column: column, index: index, isDecoded: isDecoded))
        cursor = known.count
        return known[cursor - 1]
    }

    // MARK: Errors

    func mismatch(_ key: (any CodingKey)?, _ type: Any.Type, _ reason: String) -> DecodingError {
        let name = (entity.name ?? "?") + (key.map { ".\($0.stringValue)" } ?? "")
        return .typeMismatch(
            type, DecodingError.Context(codingPath: key.map { [$0] } ?? [], debugDescription: "\(name) cannot be decoded as \(type): \(reason)."))
    }

    private func error(_ fault: ColumnFault, _ key: any CodingKey, _ type: Any.Type) -> DecodingError {
        var id: NSManagedObjectID?
        switch place {
        case .row(let row): id = reader?.id(of: row)
        case .object(let object): id = object.objectID
        case .none: break
        }
        let error = fault.error(id)
        let context = DecodingError.Context(codingPath: [key], debugDescription: error.localizedDescription, underlyingError: error)
        return switch fault {
        case .null: .valueNotFound(type, context)
        case .unfit: .typeMismatch(type, context)
        }
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch(nil, [Any].self, "a row has keys, and is no list") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw mismatch(nil, Any.self, "a row has keys, and is no single value; fetch one attribute with values(_:_:)")
    }
}

extension ValueColumn {
    /// Whether the values are cast to a type that no column has by itself.
    var isCast: Bool { !(type is any PlainValue.Type) && type != IDReading.self && !(valueType is any RawRepresentable.Type) }
}

/// The keys of a row.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: RowDecoder
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] { decoder.entity.attributesByName.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.has(key) }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.value(key, type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.value(key, type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.value(key, type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.value(key, type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.value(key, type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.value(key, type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.value(key, type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.value(key, type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.value(key, type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.value(key, type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.value(key, type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.value(key, type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.value(key, type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.value(key, type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.isDecoded(key, type) ? Value(from: ValueDecoder(decoder: decoder, key: key)) : decoder.value(key, type)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try decoder.value(key, Bool?.self) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try decoder.value(key, String?.self) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try decoder.value(key, Double?.self) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try decoder.value(key, Float?.self) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try decoder.value(key, Int?.self) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try decoder.value(key, Int8?.self) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try decoder.value(key, Int16?.self) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try decoder.value(key, Int32?.self) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try decoder.value(key, Int64?.self) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try decoder.value(key, UInt?.self) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try decoder.value(key, UInt8?.self) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try decoder.value(key, UInt16?.self) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try decoder.value(key, UInt32?.self) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try decoder.value(key, UInt64?.self) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard try decoder.isDecoded(key, Value?.self) else { return try decoder.value(key, Value?.self) }
        return try decoder.isNull(key) ? nil : Value(from: ValueDecoder(decoder: decoder, key: key))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw decoder.mismatch(key, [String: Any].self, "an attribute is a single value; name a path such as \"group.name\" as the key")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder.mismatch(key, [Any].self, "an attribute is a single value, and no list")
    }

    func superDecoder() throws -> any Decoder {
        throw decoder.mismatch(nil, Any.self, "a row has no part for a superclass; decode its keys in the row")
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.mismatch(key, Any.self, "a row has no part for a superclass") }
}

/// One value, for a type of the caller's that decodes itself from a text, a number or the like.
private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let decoder: RowDecoder
    let key: any CodingKey
    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw decoder.mismatch(key, [String: Any].self, "an attribute is a single value; name a path such as \"group.name\" as the key")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw decoder.mismatch(key, [Any].self, "an attribute is a single value, and no list")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { (try? decoder.isNull(key)) ?? false }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.value(key, type) }
    func decode(_ type: String.Type) throws -> String { try decoder.value(key, type) }
    func decode(_ type: Double.Type) throws -> Double { try decoder.value(key, type) }
    func decode(_ type: Float.Type) throws -> Float { try decoder.value(key, type) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.value(key, type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.value(key, type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.value(key, type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.value(key, type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.value(key, type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.value(key, type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.value(key, type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.value(key, type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.value(key, type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.value(key, type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard try !decoder.isDecoded(key, type) else { throw decoder.mismatch(key, type, "an attribute is a single value of another type") }
        return try decoder.value(key, type)
    }
}

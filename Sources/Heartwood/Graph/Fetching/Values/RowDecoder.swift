import Foundation
import RecordLog

/// Decodes rows, or objects where rows do not suffice, as values of a caller's `Decodable` type. One decoder serves all rows of a fetch.
///
/// A type decodes its properties in one order for each row, so a key is first compared with the one that followed last time.
final class RowDecoder: Decoder {
    /// Thrown where a value cannot be read from rows: all rows are then read anew, as objects.
    struct NeedsObjects: Error {}

    private final class Property {
        let name: String
        let type: ObjectIdentifier
        let key: KeyBits
        let column: ValueColumn
        /// The column in the reader; nil where objects are read.
        let read: ReaderColumn?
        /// Whether the caller's type has to decode itself from the value.
        let isDecoded: Bool

        init(_ name: String, _ type: ObjectIdentifier, _ key: KeyBits, _ column: ValueColumn, _ read: ReaderColumn?, isDecoded: Bool) {
            (self.name, self.type, self.key, self.column, self.read, self.isDecoded) = (name, type, key, column, read, isDecoded)
        }
    }

    /// Reads a value from an object: the context's, with its changes.
    typealias ObjectValue = (ValueColumn, NSManagedObject) throws -> (PredicateValue, isMissing: Bool)

    let entity: NSEntityDescription
    private let reader: ValueBatchReader?
    private let mayRead: (ValueColumn) -> Bool
    private let value: ObjectValue
    /// The row or the object that is being decoded.
    private var row: UnsafeRowView?
    private var object: NSManagedObject?
    private var known: ContiguousArray<Property> = []
    private var cursor = 0
    /// The last container, a `KeptContainer` of these keys.
    private var kept: AnyObject?
    private var keptKeys: ObjectIdentifier?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// - Parameters:
    ///   - reader: nil where objects are read.
    ///   - mayRead: whether the rows have a column as the context sees it.
    init(_ entity: NSEntityDescription, _ reader: ValueBatchReader?, mayRead: @escaping (ValueColumn) -> Bool, value: @escaping ObjectValue) {
        (self.entity, self.reader, self.mayRead, self.value) = (entity, reader, mayRead, value)
    }

    func decode<Row: Decodable>(_ type: Row.Type, _ row: UnsafeRowView) throws -> Row {
        self.row = row
        cursor = 0
        return try Row(from: self)
    }

    func decode<Row: Decodable>(_ type: Row.Type, _ object: NSManagedObject) throws -> Row {
        self.object = object
        cursor = 0
        return try Row(from: self)
    }

    /// Ends the decoding of rows.
    func end() { (row, object, kept, keptKeys) = (nil, nil, nil, nil) }

    // MARK: Values

    /// - Parameter given: the type of the value, an optional for one that may be missing.
    @inline(__always)
    func value<Value>(_ key: some CodingKey, _ bits: KeyBits, _ given: Value.Type) throws -> Value {
        let property = try property(key, bits, given)
        guard !property.isDecoded else { throw mismatch(key, given, "it is a single value of another type") }
        return try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
            guard let cell = memory.baseAddress else { throw mismatch(key, given, "it has no size") }
            do {
                if let row, let read = property.read, let reader {
                    try reader.read(read, of: row, into: cell)
                } else {
                    try put(property, key, given, cell)
                }
            } catch let fault as ColumnFault {
                throw error(fault, key, given)
            }
            return cell.move()
        }
    }

    private func put(_ property: Property, _ key: any CodingKey, _ given: Any.Type, _ cell: UnsafeMutableRawPointer) throws {
        guard row == nil else { throw NeedsObjects() }
        guard let object else { throw mismatch(key, given, "no row is being decoded") }
        let (found, isMissing) = try value(property.column, object)
        try property.column.put(found, at: cell, isMissing: isMissing)
    }

    /// Whether the caller's type has to decode itself from the value of a key.
    func isDecoded<Value>(_ key: some CodingKey, _ bits: KeyBits, _ given: Value.Type) throws -> Bool { try property(key, bits, given).isDecoded }

    func isNull(_ key: some CodingKey, _ bits: KeyBits) throws -> Bool { try value(key, bits, Any?.self) == nil }

    func has(_ key: any CodingKey) -> Bool { (try? ColumnReader(entity: entity).column(key.stringValue)) != nil }

    @inline(__always)
    private func property<Value>(_ key: some CodingKey, _ bits: KeyBits, _ given: Value.Type) throws -> Property {
        if cursor < known.count {
            let next = known[cursor]
            if bits.isKnown, next.key == bits, next.type == ObjectIdentifier(given) {
                cursor &+= 1
                return next
            }
        }
        return try find(key, bits, given)
    }

    @inline(never)
    private func find(_ key: any CodingKey, _ bits: KeyBits, _ given: Any.Type) throws -> Property {
        let name = key.stringValue, type = ObjectIdentifier(given)
        if let index = known.firstIndex(where: { $0.type == type && $0.name == name && $0.key == bits }) {
            cursor = index + 1
            return known[index]
        }
        let column: ValueColumn
        do { column = try ValueColumn(name, given, entity) } catch {
            let context = DecodingError.Context(codingPath: [key], debugDescription: (error as NSError).localizedDescription, underlyingError: error)
            throw has(key) ? DecodingError.typeMismatch(given, context) : .keyNotFound(key, context)
        }
        var read: ReaderColumn?
        if let reader {
            guard mayRead(column), let added = reader.add(column) else { throw NeedsObjects() }
            read = added
        }
        let isDecoded = column.isCast && !column.isObject && column.valueType != Any.self && column.valueType is any Decodable.Type
        known.append(Property(name, type, bits, column, read, isDecoded: isDecoded))
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
        let id = row.map { reader?.id(of: $0) } ?? object?.objectID
        let error = fault.error(id)
        let context = DecodingError.Context(codingPath: [key], debugDescription: error.localizedDescription, underlyingError: error)
        return switch fault {
        case .null: .valueNotFound(type, context)
        case .unfit: .typeMismatch(type, context)
        }
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let kept, keptKeys == ObjectIdentifier(Key.self) { return unsafeDowncast(kept, to: KeptContainer<Key>.self).container }
        let made = KeptContainer(KeyedDecodingContainer(RowContainer<Key>(decoder: self)))
        (kept, keptKeys) = (made, ObjectIdentifier(Key.self))
        return made.container
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

/// The container that the last row was decoded from: it takes memory, and a look for its type.
private final class KeptContainer<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
}

/// The memory of a key, where it is that of a number or of a case without values. Such keys are the same if their types and bits are.
struct KeyBits: Equatable {
    private let type: ObjectIdentifier
    private let bits: UInt64
    /// Whether equal bits tell equal keys.
    let isKnown: Bool

    init(_ type: ObjectIdentifier) { (self.type, bits, isKnown) = (type, 0, false) }

    /// - Precondition: the key has this many bytes, and is copied as bytes.
    @inline(__always)
    init<Key>(_ key: borrowing Key, _ type: ObjectIdentifier, size: Int) {
        self.type = type
        isKnown = true
        bits = withUnsafeBytes(of: key) { bytes in
            guard size != 1 else { return UInt64(bytes[0]) }
            var bits: UInt64 = 0
            withUnsafeMutableBytes(of: &bits) { $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes.baseAddress, count: size)) }
            return bits
        }
    }
}

/// The keys of a row.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: RowDecoder
    private let type = ObjectIdentifier(Key.self)
    /// The bytes of a key; nil where they do not tell it.
    private let size = _isPOD(Key.self) && MemoryLayout<Key>.size <= MemoryLayout<UInt64>.size ? MemoryLayout<Key>.size : nil

    init(decoder: RowDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { [] }

    private func bits(_ key: Key) -> KeyBits { size.map { KeyBits(key, type, size: $0) } ?? KeyBits(type) }

    private func value<Value>(_ key: Key, _ type: Value.Type) throws -> Value { try decoder.value(key, bits(key), type) }

    var allKeys: [Key] { decoder.entity.attributesByName.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.has(key) }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(key, bits(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key, type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key, type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key, type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key, type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key, type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key, type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key, type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key, type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key, type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key, type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key, type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key, type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key, type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key, type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.isDecoded(key, bits(key), type) ? Value(from: ValueDecoder(decoder: decoder, key: key)) : value(key, type)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try value(key, Bool?.self) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try value(key, String?.self) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try value(key, Double?.self) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try value(key, Float?.self) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try value(key, Int?.self) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try value(key, Int8?.self) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try value(key, Int16?.self) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try value(key, Int32?.self) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try value(key, Int64?.self) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try value(key, UInt?.self) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try value(key, UInt8?.self) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try value(key, UInt16?.self) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try value(key, UInt32?.self) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try value(key, UInt64?.self) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard try decoder.isDecoded(key, bits(key), Value?.self) else { return try value(key, Value?.self) }
        return try decoder.isNull(key, bits(key)) ? nil : Value(from: ValueDecoder(decoder: decoder, key: key))
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
    private var bits: KeyBits { KeyBits(ObjectIdentifier(Self.self)) }
    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw decoder.mismatch(key, [String: Any].self, "an attribute is a single value; name a path such as \"group.name\" as the key")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw decoder.mismatch(key, [Any].self, "an attribute is a single value, and no list")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { (try? decoder.isNull(key, bits)) ?? false }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.value(key, bits, type) }
    func decode(_ type: String.Type) throws -> String { try decoder.value(key, bits, type) }
    func decode(_ type: Double.Type) throws -> Double { try decoder.value(key, bits, type) }
    func decode(_ type: Float.Type) throws -> Float { try decoder.value(key, bits, type) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.value(key, bits, type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.value(key, bits, type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.value(key, bits, type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.value(key, bits, type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.value(key, bits, type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.value(key, bits, type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.value(key, bits, type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.value(key, bits, type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.value(key, bits, type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.value(key, bits, type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard try !decoder.isDecoded(key, bits, type) else { throw decoder.mismatch(key, type, "an attribute is a single value of another type") }
        return try decoder.value(key, bits, type)
    }
}

/// A case of an enumeration without payloads whose cases are known only to its raw values.
enum EnumerationCase {
    /// The first case; nil for a type that is no enumeration of at most 256 cases without payloads.
    ///
    /// Such an enumeration is a byte that counts its cases from 0, or nothing at all if it has one case. A type of another form has another size
    /// or prints as no case.
    static func first<Value>(of type: Value.Type) -> Value? {
        guard MemoryLayout<Value>.size <= 1, _isPOD(Value.self) else { return nil }
        let value: Value? = withUnsafeTemporaryAllocation(byteCount: max(MemoryLayout<Value>.size, 1), alignment: MemoryLayout<Value>.alignment) {
            $0.initializeMemory(as: UInt8.self, repeating: 0)
            return $0.baseAddress.map { UnsafeRawPointer($0).load(as: Value.self) }
        }
        guard let value, Mirror(reflecting: value).displayStyle == .enum, Mirror(reflecting: value).children.isEmpty else { return nil }
        return value
    }
}

/// The values of a type with raw values that can be told without the program: all cases where the type lists them, else one.
enum RawValues {
    static func known<Value: RawRepresentable>(of type: Value.Type) -> [Value] {
        if let cases = type as? any CaseIterable.Type { return all(cases).compactMap { $0 as? Value } }
        if let scalar = Value.RawValue.self as? any _PersistentScalar.Type, let raw = scalar._neutral as? Value.RawValue,
            let value = Value(rawValue: raw) {
            return [value]
        }
        return [EnumerationCase.first(of: type)].compactMap(\.self)
    }

    private static func all<Cases: CaseIterable>(_: Cases.Type) -> [Any] { Cases.allCases.map { $0 as Any } }
}

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

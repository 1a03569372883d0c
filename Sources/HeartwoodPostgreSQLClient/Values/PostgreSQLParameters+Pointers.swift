extension PostgreSQLParameters {
    /// Lends the arrays that libpq takes: where each value begins (nil for a null), its length, and 1 for the binary form.
    func withPointers<Value>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<CInt>?, UnsafePointer<CInt>?) -> Value
    ) -> Value {
        let count = types.count
        return bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { pointers in
                withUnsafeTemporaryAllocation(of: CInt.self, capacity: 2 * count) { numbers in
                    let lengths = UnsafeMutableBufferPointer(rebasing: numbers[..<count])
                    Self.fill(bytes, pointers, lengths)
                    let formats = UnsafeMutableBufferPointer(rebasing: numbers[count...])
                    formats.initialize(repeating: 1)
                    return body(
                        pointers.baseAddress.map { UnsafePointer($0) }, lengths.baseAddress.map { UnsafePointer($0) },
                        formats.baseAddress.map { UnsafePointer($0) })
                }
            }
        }
    }

    private static func fill(
        _ bytes: UnsafeRawBufferPointer, _ pointers: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>,
        _ lengths: UnsafeMutableBufferPointer<CInt>
    ) {
        var offset = 0
        for index in 0..<pointers.count {
            let length = Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            offset += 4
            let start = bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
            pointers.initializeElement(at: index, to: length < 0 ? nil : start)
            lengths.initializeElement(at: index, to: max(0, length))
            offset += Int(max(0, length))
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether every byte is 0.
    var isZero: Bool {
        var at = 0
        while at + 32 <= count {
            let word = loadUnaligned(fromByteOffset: at, as: UInt64.self)
                | loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)
                | loadUnaligned(fromByteOffset: at + 16, as: UInt64.self)
                | loadUnaligned(fromByteOffset: at + 24, as: UInt64.self)
            if word != 0 { return false }
            at += 32
        }
        return self[at...].allSatisfy { $0 == 0 }
    }
}

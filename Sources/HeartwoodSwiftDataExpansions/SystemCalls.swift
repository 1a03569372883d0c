import HeartwoodPlatform

/// What the plugin needs of the C library.
enum SystemCalls {
    /// Reads some bytes.
    /// - Returns: their number; 0 at the end of the input, negative after an error.
    static func receive(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(ucrt)
            Int(_read(file, bytes.baseAddress, UInt32(min(bytes.count, 1 << 20))))
        #else
            SystemCall.retry { read(file, bytes.baseAddress, bytes.count) }
        #endif
    }

    /// Writes some of the bytes.
    /// - Returns: their number; negative after an error.
    static func send(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(ucrt)
            Int(_write(file, bytes.baseAddress, UInt32(min(bytes.count, 1 << 20))))
        #else
            SystemCall.retry { write(file, bytes.baseAddress, bytes.count) }
        #endif
    }

    /// Takes standard output away from `print`, which writes to standard error from then on.
    /// - Returns: the file of the former output; nil after an error.
    static func takeOutput() -> Int32? {
        #if canImport(ucrt)
            _ = _setmode(0, _O_BINARY)
            _ = _setmode(1, _O_BINARY)
            let output = _dup(1)
            return output >= 0 && _dup2(2, 1) >= 0 ? output : nil
        #else
            let output = dup(1)
            return output >= 0 && dup2(2, 1) >= 0 ? output : nil
        #endif
    }

    /// The index of the first such byte in a part of bytes. A debug build's own loop takes thirty times as long, and plugins are debug builds.
    static func firstIndex(of byte: UInt8, in bytes: [UInt8], _ range: Range<Int>) -> Int? {
        bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress, !range.isEmpty,
                let found = memchr(base + range.lowerBound, Int32(byte), range.count) else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}

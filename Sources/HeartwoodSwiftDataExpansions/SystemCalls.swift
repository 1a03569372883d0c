#if canImport(Darwin)
    import Darwin
#elseif canImport(Android)
    import Android
#elseif canImport(Musl)
    import Musl
#elseif canImport(ucrt)
    import ucrt
#elseif canImport(Glibc)
    import Glibc
#endif

/// What the plugin needs of the C library. It does without the package's module for it: a macro's executable is built for the host.
enum SystemCalls {
    /// Reads some bytes.
    /// - Returns: their number; 0 at the end of the input, negative after an error.
    static func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
        repeat {
            #if canImport(ucrt)
                let count = Int(_read(file, bytes.baseAddress, UInt32(min(bytes.count, 1 << 20))))
            #elseif canImport(Darwin)
                let count = Darwin.read(file, bytes.baseAddress, bytes.count)
            #elseif canImport(Android)
                let count = Android.read(file, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
                let count = Musl.read(file, bytes.baseAddress, bytes.count)
            #else
                let count = Glibc.read(file, bytes.baseAddress, bytes.count)
            #endif
            if count >= 0 || errno != EINTR { return count }
        } while true
    }

    /// Writes some of the bytes.
    /// - Returns: their number; negative after an error.
    static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        repeat {
            #if canImport(ucrt)
                let count = Int(_write(file, bytes.baseAddress, UInt32(min(bytes.count, 1 << 20))))
            #elseif canImport(Darwin)
                let count = Darwin.write(file, bytes.baseAddress, bytes.count)
            #elseif canImport(Android)
                let count = Android.write(file, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
                let count = Musl.write(file, bytes.baseAddress, bytes.count)
            #else
                let count = Glibc.write(file, bytes.baseAddress, bytes.count)
            #endif
            if count >= 0 || errno != EINTR { return count }
        } while true
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

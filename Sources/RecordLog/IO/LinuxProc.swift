#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// What Linux tells in the files under `/proc`.
enum LinuxProc {
    /// As Linux packs device numbers into 64 bits.
    static func major(_ device: UInt64) -> UInt64 { (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF }
    static func minor(_ device: UInt64) -> UInt64 { device & 0xFF | (device >> 12) & 0xFFFF_FF00 }

    /// The kind of file system that a device has, as a line of `/proc/self/mountinfo` says: `27 1 254:0 / / rw,relatime - ext4
    /// /dev/vda rw`. Lines that are otherwise are passed over.
    static func fileSystemType(in list: [UInt8], of device: UInt64) -> String? {
        for line in list.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count > 6, words[2] == "\(major(device)):\(minor(device))", let dash = words[6...].firstIndex(of: "-"),
                dash + 1 < words.count
            else { continue }
            return words[dash + 1]
        }
        return nil
    }

    #if os(Linux) || os(Android)
        /// The kind of file system that a device has; nil where the system does not tell.
        static func fileSystemType(of device: UInt64) -> String? {
            read("self/mountinfo", limit: 1 << 20).flatMap { fileSystemType(in: $0, of: device) }
        }

        /// - Returns: at most `limit` bytes; nil where there is no such file, or it may not be read.
        static func read(_ name: String, limit: Int) -> [UInt8]? {
            let descriptor = SystemCall.retry { open("/proc/" + name, O_RDONLY | O_CLOEXEC) }
            guard descriptor >= 0 else { return nil }
            defer { _ = close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: limit)
            var filled = 0
            while filled < limit {
                // Such files have no size, and end where a read gives nothing.
                let count = bytes.withUnsafeMutableBytes { buffer in
                    SystemCall.retry { readBytes(descriptor, buffer.baseAddress! + filled, limit - filled) }
                }
                guard count > 0 else { break }
                filled += count
            }
            return Array(bytes[..<filled])
        }
    #endif
}

#if os(Linux) || os(Android)
    // The name that the method above has too.
    private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, buffer, count) }
#endif

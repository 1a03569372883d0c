import HeartwoodPlatform

/// Reads Linux's information on processes and files in `/proc`.
enum SystemInformation {
    /// A process's name from `/proc/PID/comm`, which the process can set freely; nil for an empty one.
    static func name(_ bytes: [UInt8]) -> String? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }
        let text = String(decoding: line, as: UTF8.self)
        guard !text.isEmpty else { return nil }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }

    /// Linux's encoding of device numbers in 64 bits.
    static func major(_ device: UInt64) -> UInt64 { (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF }
    static func minor(_ device: UInt64) -> UInt64 { device & 0xFF | (device >> 12) & 0xFFFF_FF00 }

    static func isDevice(_ device: UInt64, _ major: UInt64, _ minor: UInt64) -> Bool {
        major == self.major(device) && minor == self.minor(device)
    }

    /// The file system type of a device, from a line of `/proc/self/mountinfo` like `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw`. Lines
    /// of another form are skipped.
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
        /// The file system type of a device; nil if the system does not report it.
        static func fileSystemType(of device: UInt64) -> String? {
            read("/proc/self/mountinfo", limit: 1 << 20).flatMap { fileSystemType(in: $0, of: device) }
        }

        static func holder(_ process: Int32) -> FileHolder {
            FileHolder(process: process, name: read("/proc/\(process)/comm", limit: 64).flatMap(name))
        }

        /// - Returns: nil if the file is missing or may not be read.
        static func read(_ path: String, limit: Int) -> [UInt8]? {
            let descriptor = SystemCall.retry { open(path, O_RDONLY | O_CLOEXEC) }
            guard descriptor >= 0 else { return nil }
            defer { _ = close(descriptor) }
            return [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
                while filled < limit, let start = buffer.baseAddress {
                    // Such files have no size, and end when a read returns nothing.
                    let count = SystemCall.retry { readBytes(descriptor, start + filled, limit - filled) }
                    guard count > 0 else { break }
                    filled += count
                }
            }
        }

        /// The directory entries whose names are numbers: processes in `/proc`, a process's descriptors in its `fd`.
        /// - Returns: nil if the directory is missing or may not be read.
        static func numbers(in directory: String) -> [Int32]? {
            guard let stream = opendir(directory) else { return nil }
            defer { closedir(stream) }
            var numbers: [Int32] = []
            while let entry = readdir(stream) {
                let number = withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 1) { Int32(String(cString: $0)) }
                }
                if let number { numbers.append(number) }
            }
            return numbers
        }
    #endif
}

#if os(Linux) || os(Android)
    // This function has the same name as the method above.
    private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, buffer, count) }
#endif

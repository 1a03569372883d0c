import HeartwoodPlatform

/// Finds the processes that have a file open or mapped: on Linux, in `/proc/PID/fd` and `/proc/PID/maps` of the processes that
/// this one may examine.
enum OpenFiles {
    /// - Parameter own: the number of this process's descriptors that do not count.
    /// - Returns: nil if the system does not report it.
    static func holders(of identity: FileSystemIdentity, without own: Int) -> [FileHolder]? {
        #if os(Linux) || os(Android)
            guard let processes = SystemInformation.numbers(in: "/proc") else { return nil }
            let this = getpid()
            return processes.sorted().filter { process in
                if process == this { return openings(of: identity, by: process) > own }
                return openings(of: identity, by: process) > 0
                    || SystemInformation.read("/proc/\(process)/maps", limit: 1 << 20).map { isMapped(identity, in: $0) } ?? false
            }.map(SystemInformation.holder)
        #else
            return nil
        #endif
    }

    /// The processes other than this one that have the file open for writing.
    /// - Returns: nil if the system does not report it.
    static func otherWriters(of identity: FileSystemIdentity) -> [FileHolder]? {
        #if os(Linux) || os(Android)
            guard let processes = SystemInformation.numbers(in: "/proc") else { return nil }
            let this = getpid()
            return processes.sorted().filter { process in
                process != this && descriptors(of: identity, by: process).contains { descriptor in
                    SystemInformation.read("/proc/\(process)/fdinfo/\(descriptor)", limit: 1024).map(isForWriting) ?? false
                }
            }.map(SystemInformation.holder)
        #else
            return nil
        #endif
    }

    /// Whether a descriptor may be written to. Linux's description of it has a line like `flags:\t0100002`, in octal.
    static func isForWriting(_ lines: [UInt8]) -> Bool {
        for line in lines.split(separator: UInt8(ascii: "\n")) where line.starts(with: "flags:".utf8) {
            let digits = line.dropFirst(6).drop { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            // The lowest two bits: 0 reading, 1 writing, 2 both.
            return UInt64(String(decoding: digits, as: UTF8.self), radix: 8).map { $0 & 3 != 0 } ?? false
        }
        return false
    }

    /// Whether a list of mappings has one of the file.
    ///
    /// A line is `7f01-7f02 r--s 00000000 08:01 4567 /path`: device numbers in hexadecimal, the inode in decimal. Lines of another form
    /// are skipped.
    static func isMapped(_ identity: FileSystemIdentity, in list: [UInt8]) -> Bool {
        // Lists are long, and few have the file.
        guard contains(list, Array(" \(identity.inode)".utf8)) else { return false }
        for line in list.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard words.count >= 5, let inode = UInt64(String(decoding: words[4], as: UTF8.self)), inode == identity.inode else { continue }
            let device = String(decoding: words[3], as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
            guard device.count == 2, let major = UInt64(device[0], radix: 16), let minor = UInt64(device[1], radix: 16),
                SystemInformation.isDevice(identity.device, major, minor)
            else { continue }
            return true
        }
        return false
    }

    private static func contains(_ list: [UInt8], _ part: [UInt8]) -> Bool {
        list.withUnsafeBytes { list in
            part.withUnsafeBytes { part in
                guard let bytes = list.baseAddress, let wanted = part.baseAddress, list.count >= part.count else { return false }
                var at = 0
                while at <= list.count - part.count, let next = memchr(bytes + at, Int32(part[0]), list.count - part.count + 1 - at) {
                    if memcmp(next, wanted, part.count) == 0 { return true }
                    at = bytes.distance(to: next) + 1
                }
                return false
            }
        }
    }

    #if os(Linux) || os(Android)
        private static func openings(of identity: FileSystemIdentity, by process: Int32) -> Int {
            descriptors(of: identity, by: process).count
        }

        private static func descriptors(of identity: FileSystemIdentity, by process: Int32) -> [Int32] {
            (SystemInformation.numbers(in: "/proc/\(process)/fd") ?? []).filter { descriptor in
                var status = stat()
                return stat("/proc/\(process)/fd/\(descriptor)", &status) == 0
                    && UInt64(truncatingIfNeeded: status.st_dev) == identity.device && UInt64(status.st_ino) == identity.inode
            }
        }
    #endif
}

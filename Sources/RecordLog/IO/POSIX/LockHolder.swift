/// Finds the process that holds the lock of a file: on Linux, in the list of locks in `/proc`.
enum LockHolder {
    /// - Returns: nil if the system does not report it, or no process holds the lock any more.
    static func find(_ identity: FileSystemIdentity) -> FileHolder? {
        #if os(Linux) || os(Android)
            guard let list = SystemInformation.read("/proc/locks", limit: 1 << 20), let process = process(in: list, holding: identity)
            else { return nil }
            return SystemInformation.holder(process)
        #else
            return nil
        #endif
    }

    // MARK: Parsing

    /// The first process that holds an exclusive `flock` lock of the file, according to `/proc/locks`.
    ///
    /// A line is `1: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF`: device numbers in hexadecimal, the inode in decimal. A waiting process
    /// has `->` after its number. Lines of another form are skipped.
    static func process(in list: [UInt8], holding identity: FileSystemIdentity) -> Int32? {
        for line in list.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int32(words[4]), process > 0 else { continue }
            let numbers = words[5].split(separator: ":", omittingEmptySubsequences: false)
            guard numbers.count == 3, let major = UInt64(numbers[0], radix: 16), let minor = UInt64(numbers[1], radix: 16),
                let inode = UInt64(numbers[2]), inode == identity.inode, SystemInformation.isDevice(identity.device, major, minor)
            else { continue }
            return process
        }
        return nil
    }
}

import Foundation

/// The memory of this process, if the system reports it.
enum ProcessMemory {
    /// Resident private bytes, without mapped files.
    static var resident: UInt64? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) }.map { $0 * 1024 }
    }
}

import Foundation

/// The memory of this process, where the system tells.
enum ProcessMemory {
    /// Resident bytes that are the process's own, mapped files left out.
    static var resident: UInt64? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) }.map { $0 * 1024 }
    }
}

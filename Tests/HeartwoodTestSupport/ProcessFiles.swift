import Foundation

/// The files that this process has open and mapped whose paths have a given prefix, including files that have lost their name.
public enum ProcessFiles {
    /// nil if the system does not report it.
    public static func descriptors(of path: String) -> Int? { open(path)?.count }

    /// The open files, one entry for each descriptor.
    public static func open(_ path: String) -> [String]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
        let files = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return files.filter { $0.hasPrefix(path) }
    }

    /// The number of mapped files, whose mappings the system may have split. nil if the system does not report it.
    public static func mapped(of path: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return nil }
        // Range, permissions, offset, device, inode, path.
        let lines = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true) }
        return Set(lines.filter { $0.count == 6 && $0[5].drop { $0 == " " }.hasPrefix(path) }.map { $0[4] }).count
    }
}

import Foundation

/// What this process has open and mapped of files whose paths begin so, those that have lost their name too.
public enum ProcessFiles {
    /// nil where the system does not tell.
    public static func descriptors(of path: String) -> Int? { open(path)?.count }

    /// What is open, each as often as it is.
    public static func open(_ path: String) -> [String]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
        let files = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return files.filter { $0.hasPrefix(path) }
    }

    /// How many files are mapped, whose mappings the system may have split. nil where the system does not tell.
    public static func mapped(of path: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return nil }
        // Range, rights, offset, device, inode, path.
        let lines = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true) }
        return Set(lines.filter { $0.count == 6 && $0[5].drop { $0 == " " }.hasPrefix(path) }.map { $0[4] }).count
    }
}

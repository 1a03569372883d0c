import Foundation

/// The process's memory that is its own, mapped files left out.
enum MemoryFigure {
    /// In MiB; nil where the system does not tell.
    static var mebibytes: Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { return nil }
        return kibibytes / 1024
    }

    static var text: String { mebibytes.map { String(format: "%.0f MiB", $0) } ?? "unknown" }
}

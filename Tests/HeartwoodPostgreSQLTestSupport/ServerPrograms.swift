import Foundation

/// The programs of the server on this machine.
enum ServerPrograms {
    /// The folder with `initdb` and `postgres`; nil if there is none.
    static let folder: String? = candidates.first { folder in
        ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }

    /// Debian puts each version into a folder of its own, outside of PATH, as Homebrew does.
    private static var candidates: [String] {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return path + versions("/usr/lib/postgresql") + versions("/opt/homebrew/opt") + versions("/usr/local/opt") + ["/usr/local/pgsql/bin"]
    }

    /// The latest version first.
    private static func versions(_ parent: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        func number(_ name: String) -> Int { Int(name.filter(\.isNumber)) ?? 0 }
        return names.filter { $0.hasPrefix("postgresql") || Int($0) != nil }.sorted { number($0) > number($1) }.map { "\(parent)/\($0)/bin" }
    }
}

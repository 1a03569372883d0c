import Foundation

/// Programs of the system that tests use where they are installed.
enum Shell {
    static func path(of name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/bin", "/usr/bin", "/usr/local/bin"]
        return folders.map { URL(fileURLWithPath: "\($0)/\(name)") }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

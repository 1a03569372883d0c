import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where the tool writes.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: FileHandle.standardOutput)
    }

    static func error(_ text: String) {
        write(text + "\n", to: FileHandle.standardError)
    }

    private static func write(_ text: String, to handle: FileHandle) {
        // A reader that went away (`| head`) is no failure of the tool.
        try? handle.write(contentsOf: Data(text.utf8))
    }

    static var isTerminal: Bool { isatty(2) == 1 }

    /// The columns of the terminal that standard output goes to; nil where it goes elsewhere, or the terminal does not tell.
    static var terminalWidth: Int? {
        guard isatty(1) == 1 else { return nil }
        var size = winsize()
        return ioctl(1, numericCast(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }

    static func bytes(_ count: UInt64) -> String {
        switch count {
        case ..<1024: "\(count) B"
        case ..<(1024 * 1024): String(format: "%.1f KiB", Double(count) / 1024)
        case ..<(1024 * 1024 * 1024): String(format: "%.1f MiB", Double(count) / 1024 / 1024)
        default: String(format: "%.2f GiB", Double(count) / 1024 / 1024 / 1024)
        }
    }

    static func number(_ value: Int) -> String {
        let digits = String(abs(value))
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return value < 0 ? "-" + result : result
    }
}

/// Shows how far a long command is: a bar on a terminal, nothing elsewhere.
final class ProgressBar {
    private let label: String
    private var shown = -1

    init(_ label: String) {
        self.label = label
    }

    func update(_ done: UInt64, of total: UInt64) {
        guard Output.isTerminal, total > 0 else { return }
        let percent = Int(min(100, done * 100 / total))
        guard percent != shown else { return }
        shown = percent
        let filled = percent * 30 / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        try? FileHandle.standardError.write(contentsOf: Data("\r\(label) \(bar) \(percent)%".utf8))
    }

    func finish() {
        guard shown >= 0 else { return }
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8))
    }
}

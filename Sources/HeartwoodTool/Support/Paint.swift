import Foundation

/// The colours of output for people. Only a terminal gets them, and none where the environment has NO_COLOR.
///
/// Source: https://no-color.org
enum Paint: String {
    case good = "32"
    case bad = "31"
    case changed = "33"

    /// Whether a terminal reads what is written to the descriptor.
    static func isOn(_ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb" && isatty(descriptor) == 1
    }

    private static let isOnOutput = isOn(1), isOnErrors = isOn(2)

    /// A text of standard output.
    func output(_ text: String) -> String { Self.isOnOutput ? painted(text) : text }

    /// A text of standard error.
    func error(_ text: String) -> String { Self.isOnErrors ? painted(text) : text }

    private func painted(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}

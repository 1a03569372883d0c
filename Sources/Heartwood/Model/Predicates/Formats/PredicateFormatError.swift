import Foundation

/// A parse error: the reason, the position, and the format with a caret under the position.
struct PredicateFormatError: Error, CustomStringConvertible, LocalizedError {
    let format: String
    /// In Unicode scalars.
    let position: Int
    let message: String

    var description: String {
        "Unable to parse the format string \"\(format)\": \(message), at character \(position + 1):\n"
            + Self.marked(format, at: position)
    }

    var errorDescription: String? { description }

    /// The line around a position, and a caret under the position.
    static func marked(_ format: String, at position: Int) -> String {
        let scalars = Array(format.unicodeScalars)
        let start = max(0, min(position, scalars.count) - 60), end = min(scalars.count, position + 60)
        var line = String.UnicodeScalarView()
        // A control character would break the line, and a combining one would shift the column.
        for scalar in scalars[min(start, end)..<end] {
            line.append(scalar.value < 0x20 || scalar.properties.isGraphemeExtend ? " " : scalar)
        }
        return "    \(String(line))\n    \(String(repeating: " ", count: max(0, position - start)))^"
    }
}

import Foundation

/// Writes JSON values one by one: one array of them, or one a line.
final class JSONListWriter {
    private let output = OutputBuffer()
    private let encoder = JSONValue.lineEncoder()
    private let isArray: Bool
    private var isFirst = true

    init(isArray: Bool) {
        self.isArray = isArray
    }

    func append(_ value: JSONValue) throws {
        if isArray { try output.append(isFirst ? "[\n" : ",\n") }
        isFirst = false
        try output.append(try encoder.encode(value))
        if !isArray { try output.append("\n") }
    }

    func finish() throws {
        if isArray { try output.append(isFirst ? "[]\n" : "\n]\n") }
        try output.flush()
    }
}

/// Writes JSON values one by one: one array of them, or one a line.
final class JSONListWriter {
    private let output = OutputBuffer()
    private let isArray: Bool
    private var isFirst = true

    init(isArray: Bool) {
        self.isArray = isArray
    }

    func append(_ value: JSONValue) throws { try append { $0.add(value) } }

    /// - Parameter add: adds one value.
    func append(_ add: (OutputBuffer) -> Void) throws {
        if isArray { output.add(isFirst ? "[\n" : ",\n") }
        isFirst = false
        add(output)
        if !isArray { output.add("\n" as Unicode.Scalar) }
        try output.writeIfFull()
    }

    func finish() throws {
        if isArray { try output.append(isFirst ? "[]\n" : "\n]\n") }
        try output.flush()
    }
}

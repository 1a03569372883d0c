import Foundation

/// Writes the rows of a query's result one by one.
protocol RowWriter {
    /// - Parameter values: one for each column; nil for null.
    func row(_ values: [Any?]) throws
    func finish() throws
}

/// CSV with a header line.
final class CSVWriter: RowWriter {
    private let output = OutputBuffer()

    init(_ names: [String]) throws {
        try output.append(DelimitedText.line(names))
    }

    func row(_ values: [Any?]) throws {
        try output.append(DelimitedText.line(values.map { $0.map(AttributeText.text) }))
    }

    func finish() throws { try output.flush() }
}

/// Writes one object a line, or one array of them.
final class JSONWriter: RowWriter {
    private let list: JSONListWriter
    private let names: [String]

    init(_ names: [String], isArray: Bool) {
        self.names = names
        list = JSONListWriter(isArray: isArray)
    }

    func row(_ values: [Any?]) throws {
        var object: [String: JSONValue] = [:]
        for (name, value) in zip(names, values) { object[name] = value.map(AttributeText.json) }
        try list.append(.object(object))
    }

    func finish() throws { try list.finish() }
}

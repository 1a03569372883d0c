import Foundation
import Heartwood

/// Writes the rows of a query's result one by one.
protocol RowWriter {
    /// - Parameter cells: one for each column.
    func row(_ cells: UnsafeBufferPointer<RowCell>) throws
    func finish() throws
}

/// CSV with a header line.
final class CSVWriter: RowWriter {
    private let output = OutputBuffer()

    init(_ names: [String]) throws {
        try output.append(DelimitedText.line(names))
    }

    func row(_ cells: UnsafeBufferPointer<RowCell>) throws {
        try output.append(DelimitedText.line(cells.map { $0.json.map(AttributeText.text) }))
    }

    func finish() throws { try output.flush() }
}

/// Writes one object a line, or one array of them.
final class JSONWriter: RowWriter {
    private let list: JSONListWriter
    private let form: JSONObjectForm

    init(_ names: [String], isArray: Bool) {
        form = JSONObjectForm(names)
        list = JSONListWriter(isArray: isArray)
    }

    func row(_ cells: UnsafeBufferPointer<RowCell>) throws {
        try list.append { output in
            form.add(to: output) { index in
                guard !cells[index].isNull else { return false }
                output.add(cells[index])
                return true
            }
        }
    }

    func finish() throws { try list.finish() }
}

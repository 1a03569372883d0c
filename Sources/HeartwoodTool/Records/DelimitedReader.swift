import Foundation
import HeartwoodFileReading

/// Reads CSV (RFC 4180) and TSV with a header line. An empty field means no value. The members of a to-many relationship are separated by
/// semicolons (`MemberList`).
final class DelimitedReader: RecordReader {
    private let lines: LineReader
    private let delimiter: Unicode.Scalar
    private var names: [String] = []

    init(_ lines: LineReader, delimiter: Unicode.Scalar) throws {
        self.lines = lines
        self.delimiter = delimiter
        guard let header = try fields() else { throw ToolError.failure("the file is empty; its first line is to name the columns") }
        names = header.fields.map { $0 ?? "" }
        guard !names.contains(where: { $0.contains("\r") }) else {
            throw ToolError.failure("line 1: has a carriage return in it; lines are to end with a line feed")
        }
        guard names.allSatisfy({ !$0.isEmpty }), Set(names).count == names.count else {
            throw ToolError.failure("line 1: the header has an empty or a repeated name")
        }
    }

    var position: UInt64 { lines.position }
    var joinsMembers: Bool { true }

    func next() throws -> Record? {
        guard let (line, fields) = try fields() else { return nil }
        guard fields.count == names.count else {
            throw ToolError.failure("line \(line): has \(Output.count(fields.count, "field")), the header names \(names.count)")
        }
        return Record(line: line, values: zip(names, fields).map { NamedValue(name: $0, value: $1.map(RecordValue.text) ?? .null) })
    }

    /// One record, which may extend over several lines inside quotes. A nil field is empty and without quotes.
    private func fields() throws -> (line: Int, fields: [String?])? {
        // Scalars, because a character may be a quote or a comma with a combining accent.
        let start = lines.position
        guard var text = try nextLine()?.unicodeScalars else { return nil }
        let first = lines.line
        var fields: [String?] = []
        var field = String.UnicodeScalarView()
        var isQuoted = false, wasQuoted = false
        while true {
            var index = text.startIndex
            while index < text.endIndex {
                let character = text[index]
                index = text.index(after: index)
                if isQuoted {
                    if character != "\"" {
                        field.append(character)
                    } else if index < text.endIndex, text[index] == "\"" {
                        field.append("\"")
                        index = text.index(after: index)
                    } else {
                        isQuoted = false
                    }
                } else if character == "\"", field.isEmpty, !wasQuoted, delimiter == "," {
                    isQuoted = true
                    wasQuoted = true
                } else if character == delimiter {
                    fields.append(field.isEmpty && !wasQuoted ? nil : String(field))
                    field.removeAll()
                    wasQuoted = false
                } else if wasQuoted {
                    throw ToolError.failure("line \(lines.line): text stands behind the closing quote of field \(fields.count + 1)")
                } else {
                    field.append(character)
                }
            }
            guard isQuoted else { break }
            if lines.hadReturn { field.append("\r") }
            // A quote that is not closed makes one record of the whole file.
            guard lines.position - start <= lines.lineMax else { throw lines.tooLong("the record that begins in line \(first)") }
            guard let more = try nextLine() else { throw ToolError.failure("line \(first): a quoted field does not end") }
            field.append("\n")
            text = more.unicodeScalars
        }
        fields.append(field.isEmpty && !wasQuoted ? nil : String(field))
        return (first, fields)
    }

    private func nextLine() throws -> String? {
        guard let data = try lines.next() else { return nil }
        try data.withUnsafeBytes { bytes in
            guard let fault = UTF8Fault(in: bytes) else { return }
            throw ToolError.failure("line \(lines.line), column \(TextPosition(fault.offset, in: bytes).column): \(fault.text)")
        }
        // Foundation's conversion would drop a byte order mark, which is text in any line but the first.
        return String(decoding: data, as: UTF8.self)
    }
}

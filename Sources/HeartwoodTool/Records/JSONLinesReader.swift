import Foundation
import HeartwoodFileReading

/// Reads JSON Lines: one object a line; empty lines are skipped.
final class JSONLinesReader: RecordReader {
    private let lines: LineReader

    init(_ lines: LineReader) {
        self.lines = lines
    }

    var position: UInt64 { lines.position }
    var joinsMembers: Bool { false }

    func next() throws -> Record? {
        while let data = try lines.next() {
            guard data.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
            guard case .object(let members) = try value(data) else {
                throw ToolError.failure("line \(lines.line): this is JSON but not an object; each line is to be one JSON object")
            }
            return Record(line: lines.line, values: members)
        }
        return nil
    }

    private func value(_ line: Data) throws -> RecordValue {
        try line.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> RecordValue in
            do throws(JSONText.Fault) {
                return try JSONText.value(bytes)
            } catch {
                let column = TextPosition(error.offset, in: bytes).column
                throw ToolError.failure(
                    "line \(lines.line): this is not JSON (column \(column): \(error.reason)); each line is to be one JSON object")
            }
        }
    }
}

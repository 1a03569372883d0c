import Foundation

/// Reads JSON Lines: one object a line; empty lines are passed over.
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
            let parsed: Any
            do {
                parsed = try JSONSerialization.jsonObject(with: data, options: [])
            } catch {
                throw ToolError.failure("line \(lines.line): this is not JSON; each line is to be one JSON object")
            }
            guard let object = parsed as? [String: Any] else {
                throw ToolError.failure("line \(lines.line): this is JSON but not an object; each line is to be one JSON object")
            }
            return Record(line: lines.line, values: object.map { ($0.key, Self.value($0.value)) })
        }
        return nil
    }

    private static func value(_ any: Any) -> RecordValue {
        switch any {
        case is NSNull: .null
        case let text as String: .text(text)
        case let list as [Any]: .list(list.map(value))
        case let number as NSNumber: isBoolean(number) ? .bool(number.boolValue) : .number(number)
        case let flag as Bool: .bool(flag)
        case let number as Int: .number(NSNumber(value: number))
        case let number as Double: .number(NSNumber(value: number))
        default: .object
        }
    }

    /// Parsed booleans and numbers are of one class; the type they were made with tells them apart.
    private static func isBoolean(_ number: NSNumber) -> Bool {
        number.objCType.pointee == NSNumber(value: true).objCType.pointee
    }
}

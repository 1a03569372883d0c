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
                parsed = try JSONSerialization.jsonObject(with: Self.keepingSigns(data), options: [])
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

    /// The line with -0.0 in the place of -0, which Foundation reads as a whole number, and so without its sign.
    private static func keepingSigns(_ line: Data) -> Data {
        let isMet = line.withUnsafeBytes { bytes in
            bytes.indices.dropLast().contains { bytes[$0] == UInt8(ascii: "-") && bytes[$0 + 1] == UInt8(ascii: "0") }
        }
        guard isMet else { return line }
        var result = Data(), isText = false, isEscaped = false
        /// The two bytes before.
        var last: UInt8 = 0, lastButOne: UInt8 = 0
        for (place, byte) in line.enumerated() {
            result.append(byte)
            defer { (last, lastButOne) = (byte, last) }
            if isText {
                if byte == UInt8(ascii: "\""), !isEscaped { isText = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else if byte == UInt8(ascii: "0"), last == UInt8(ascii: "-"), !"eE".utf8.contains(lastButOne) {
                // Not where more of the number follows.
                let next = line.dropFirst(place + 1).first
                if next.map({ !".eE".utf8.contains($0) }) ?? true { result.append(contentsOf: ".0".utf8) }
            }
        }
        return result
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

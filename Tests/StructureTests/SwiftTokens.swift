/// The identifiers and punctuation of a Swift source. Comments and the texts of literals are left out; interpolations stay.
struct SwiftTokens {
    struct Token {
        let text: String
        let line: Int
        /// Whether a dot comes just before.
        let isMember: Bool
    }

    private(set) var list: [Token] = []

    init(_ source: [UInt8]) {
        source.withUnsafeBufferPointer { bytes in
            var scanner = Scanner(bytes: bytes)
            scanner.code(until: nil)
            list = scanner.tokens
        }
    }

    private struct Scanner {
        let bytes: UnsafeBufferPointer<UInt8>
        var at = 0
        var line = 1
        var tokens: [Token] = []
        private var isAfterDot = false

        init(bytes: UnsafeBufferPointer<UInt8>) {
            self.bytes = bytes
        }

        private func has(_ text: StaticString, at start: Int) -> Bool {
            guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
            for index in 0..<text.utf8CodeUnitCount where bytes[start + index] != text.utf8Start[index] { return false }
            return true
        }

        private static func isLetter(_ byte: UInt8) -> Bool {
            byte >= 0x80 || byte == UInt8(ascii: "_") || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
        }

        private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

        /// Scans code up to the parenthesis that closes an interpolation, or to the end.
        mutating func code(until end: UInt8?) {
            var depth = 0
            while at < bytes.count {
                let byte = bytes[at]
                if has("//", at: at) {
                    while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { at += 1 }
                } else if has("/*", at: at) {
                    comment()
                } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") && startsLiteral {
                    literal()
                } else if Self.isLetter(byte) {
                    let start = at
                    while at < bytes.count, Self.isLetter(bytes[at]) || Self.isDigit(bytes[at]) { at += 1 }
                    add(start..<at)
                } else if Self.isDigit(byte) {
                    while at < bytes.count, Self.isLetter(bytes[at]) || Self.isDigit(bytes[at]) { at += 1 }
                    isAfterDot = false
                } else {
                    if byte == UInt8(ascii: "\n") { line += 1 }
                    if byte == UInt8(ascii: "(") { depth += 1 }
                    if byte == UInt8(ascii: ")") {
                        if depth == 0, byte == end { return }
                        depth -= 1
                    }
                    if byte > 0x20, byte != UInt8(ascii: "`") { add(at..<at + 1) }
                    at += 1
                    // A range's two dots lead to no member.
                    isAfterDot = byte == UInt8(ascii: ".") && (at < 2 || bytes[at - 2] != byte) || byte == UInt8(ascii: "`") && isAfterDot
                }
            }
        }

        private mutating func add(_ range: Range<Int>) {
            tokens.append(Token(text: String(decoding: bytes[range], as: UTF8.self), line: line, isMember: isAfterDot))
            isAfterDot = false
        }

        private mutating func comment() {
            var depth = 0
            repeat {
                if has("/*", at: at) {
                    depth += 1
                    at += 2
                } else if has("*/", at: at) {
                    depth -= 1
                    at += 2
                } else {
                    if bytes[at] == UInt8(ascii: "\n") { line += 1 }
                    at += 1
                }
            } while depth > 0 && at < bytes.count
        }

        private var startsLiteral: Bool {
            var next = at
            while next < bytes.count, bytes[next] == UInt8(ascii: "#") { next += 1 }
            return next < bytes.count && bytes[next] == UInt8(ascii: "\"")
        }

        private mutating func literal() {
            var marks = 0
            while bytes[at] == UInt8(ascii: "#") {
                marks += 1
                at += 1
            }
            let isLong = has("\"\"\"", at: at)
            at += isLong ? 3 : 1
            while at < bytes.count {
                if bytes[at] == UInt8(ascii: "\""), !isLong || has("\"\"\"", at: at), closes(at + (isLong ? 3 : 1), marks) {
                    at += (isLong ? 3 : 1) + marks
                    return
                }
                if bytes[at] == UInt8(ascii: "\\"), closes(at + 1, marks) {
                    at += 1 + marks
                    if at < bytes.count, bytes[at] == UInt8(ascii: "(") {
                        at += 1
                        code(until: UInt8(ascii: ")"))
                    }
                    at += 1
                    continue
                }
                if bytes[at] == UInt8(ascii: "\n") { line += 1 }
                at += 1
            }
        }

        private func closes(_ start: Int, _ marks: Int) -> Bool {
            guard start + marks <= bytes.count else { return false }
            return bytes[start..<start + marks].allSatisfy { $0 == UInt8(ascii: "#") }
        }
    }
}

import Foundation

/// What a file of XML is looked at for before a parser gets it.
enum ModelFileScan {
    /// Whether a document type or an entity is declared anywhere. A file in another encoding could hide one: see `isPlain(_:)`.
    /// - Parameter mayHaveType: whether a document type alone is none: it is not looked for elsewhere.
    static func declaresEntities(_ data: Data, mayHaveType: Bool = false) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let at = rest.firstIndex(of: UInt8(ascii: "!")) {
                if at > bytes.startIndex, bytes[at - 1] == UInt8(ascii: "<") {
                    let word = bytes[(at + 1)...].prefix(7)
                    if !mayHaveType && word.starts(with: "DOCTYPE".utf8) || word.starts(with: "ENTITY".utf8) { return true }
                }
                rest = rest[(at + 1)...]
            }
            return false
        }
    }

    /// Whether the text is UTF-8, as far as its start says: no zeroes, and no other encoding declared.
    static func isPlain(_ data: Data) -> Bool {
        let start = data.prefix(256)
        guard !start.prefix(4).contains(0), !start.starts(with: [0xFE, 0xFF]), !start.starts(with: [0xFF, 0xFE]) else { return false }
        let text = String(decoding: start, as: UTF8.self)
        guard text.drop(while: { $0 == "\u{FEFF}" || $0.isWhitespace }).hasPrefix("<?xml"), let end = text.range(of: "?>"),
            let stated = text[..<end.lowerBound].range(of: "encoding")
        else { return true }
        let name = text[stated.upperBound..<end.lowerBound].drop { " =\t\r\n\"'".contains($0) }.prefix { !" \t\r\n\"'".contains($0) }
        return ["utf-8", "utf8", "us-ascii", "ascii"].contains(name.lowercased())
    }
}

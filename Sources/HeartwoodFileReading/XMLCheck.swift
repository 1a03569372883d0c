import Foundation

/// Checks an XML file before Foundation's parser reads it. That parser ends the process at names that are not valid UTF-8.
package enum XMLCheck {
    /// The reason why a file must not go to a parser.
    package struct Fault: Error {
        package let line: Int
        package let column: Int
        /// The end of a sentence about the file: "is not in UTF-8, …".
        package let reason: String
    }

    /// The deepest nesting of elements that is accepted. Models and mapping models nest five levels at most.
    static let depthMax = 200
    /// The most attributes that an element may have. The parser compares each with all others.
    static let attributeMax = 1000
    /// The largest sizes of an element's tag and of the XML declaration, in bytes.
    static let tagMax = 8 << 20, declarationMax = 1024

    /// - Parameter kind: the plural name of such files, for the error.
    /// - Parameter mayHaveType: true accepts a document type that declares no entities.
    package static func check(_ data: Data, kind: String, mayHaveType: Bool = false) throws(Fault) {
        let found = data.withUnsafeBytes { bytes -> Fault? in
            guard let (offset, reason) = fault(in: bytes, kind, mayHaveType) else { return nil }
            let position = TextPosition(offset, in: bytes)
            return Fault(line: position.line, column: position.column, reason: reason)
        }
        if let found { throw found }
    }

    private static func fault(in bytes: UnsafeRawBufferPointer, _ kind: String, _ mayHaveType: Bool) -> (offset: Int, reason: String)? {
        // UTF-16 and UTF-32 texts contain zero bytes or start with a byte order mark, which is not valid UTF-8.
        if let zero = bytes.offset(of: 0) { return (zero, "is not in UTF-8, as \(kind) are (it has a zero byte); it was not read") }
        if let fault = UTF8Fault(in: bytes) { return (fault.offset, "is not in UTF-8, as \(kind) are (\(fault.text)); it was not read") }
        if let reason = declarationFault(in: bytes, kind) { return (0, reason) }
        if let offset = declaration(of: ["ENTITY"] + (mayHaveType ? [] : ["DOCTYPE"]), in: bytes) {
            return (offset, "declares XML entities, which \(kind) never do; it was not read")
        }
        if let offset = bareInstruction(in: bytes) {
            return (offset, "has a processing instruction without data, which \(kind) never have; it was not read")
        }
        return shapeFault(in: bytes)
    }

    /// Finds the first `<?name?>`, comments included. Off Apple's platforms Foundation's parser ends the process at an instruction without data.
    private static func bareInstruction(in bytes: UnsafeRawBufferPointer) -> Int? {
        var start = 0
        while let at = bytes.offset(of: UInt8(ascii: "?"), from: start) {
            start = at + 1
            let rest = bytes[start...]
            guard at > 0, bytes[at - 1] == UInt8(ascii: "<") else { continue }
            let target = rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: ">") }
            let data = rest[target.endIndex...].drop { $0 <= 0x20 }
            if data.isEmpty || data.starts(with: "?>".utf8) || data.startIndex == target.endIndex { return at - 1 }
        }
        return nil
    }

    /// Checks `<?xml …?>`. The checks that follow would miss anything in a file of another encoding.
    private static func declarationFault(in bytes: UnsafeRawBufferPointer, _ kind: String) -> String? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = bytes.starts(with: mark) ? 3 : 0
        // A parser refuses a declaration behind white space. It is checked nevertheless.
        let text = String(decoding: bytes[start...].prefix(declarationMax), as: UTF8.self).drop { $0.isWhitespace }
        guard text.hasPrefix("<?xml"), text.dropFirst(5).first.map({ $0.isWhitespace || $0 == "?" }) ?? true else { return nil }
        guard let match = text.prefixMatch(
            of: /<\?xml\s+version\s*=\s*["'][0-9.]+["'](?:\s+encoding\s*=\s*["']([A-Za-z0-9._:-]+)["'])?(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>/)
        else { return "has an XML declaration that cannot be read" }
        guard let name = match.1, !["utf-8", "utf8", "us-ascii", "ascii"].contains(name.lowercased()) else { return nil }
        return "is not in UTF-8, as \(kind) are (it says that it is in \(name)); it was not read"
    }

    private static func declaration(of words: [String], in bytes: UnsafeRawBufferPointer) -> Int? {
        var start = 0
        while let at = bytes.offset(of: UInt8(ascii: "!"), from: start) {
            start = at + 1
            let rest = bytes[start...]
            if at > 0, bytes[at - 1] == UInt8(ascii: "<"), words.contains(where: { rest.starts(with: $0.utf8) }) { return at - 1 }
        }
        return nil
    }

    // MARK: Shape

    private static func shapeFault(in bytes: UnsafeRawBufferPointer) -> (offset: Int, reason: String)? {
        var depth = 0, at = 0
        while let start = bytes.offset(of: UInt8(ascii: "<"), from: at) {
            let rest = bytes[start...]
            if rest.starts(with: "<!--".utf8) {
                at = end(of: "-->", in: bytes, from: start + 4)
            } else if rest.starts(with: "<![CDATA[".utf8) {
                at = end(of: "]]>", in: bytes, from: start + 9)
            } else if rest.starts(with: "<?".utf8) {
                at = end(of: "?>", in: bytes, from: start + 2)
            } else {
                let tag = tagEnd(in: bytes, from: start + 1)
                guard tag.end - start <= tagMax else { return (start, "has an element's tag of more than \(tagMax >> 20) MiB") }
                guard tag.attributes <= attributeMax else { return (start, "has an element with more than \(attributeMax) attributes") }
                switch start + 1 < bytes.count ? bytes[start + 1] : 0 {
                case UInt8(ascii: "/"): depth -= 1
                case UInt8(ascii: "!"): break
                case _ where tag.end >= 2 && tag.end - 2 > start && bytes[tag.end - 2] == UInt8(ascii: "/"): break
                default: depth += 1
                }
                guard depth <= depthMax else { return (start, "has elements nested more than \(depthMax) deep") }
                at = tag.end
            }
        }
        return nil
    }

    /// The position behind the `>` that ends a tag, and the number of quoted values in the tag.
    private static func tagEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> (end: Int, attributes: Int) {
        var at = start, attributes = 0
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: ">") { return (at, attributes) }
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { continue }
            attributes += 1
            guard let end = bytes.offset(of: byte, from: at) else { break }
            at = end + 1
        }
        return (bytes.count, attributes)
    }

    /// The position behind the next occurrence of `text`; the end of the bytes if there is none.
    private static func end(of text: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        var at = min(start, bytes.count)
        while let found = bytes.offset(of: wanted[0], from: at) {
            if bytes[found...].starts(with: wanted) { return found + wanted.count }
            at = found + 1
        }
        return bytes.count
    }
}

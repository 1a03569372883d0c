import Foundation

/// Reads an XML document from its start to its end.
///
/// Foundation's parser is not used: it would bring libxml2 into every program, it ends the process at some documents off Apple's platforms, and
/// it follows entities. This reader takes elements, attributes, text, CDATA, comments and processing instructions. It refuses entities other
/// than those of XML itself, and every document beyond its limits. Source: W3C, "Extensible Markup Language (XML) 1.0 (Fifth Edition)".
package struct XMLReader {
    package enum Event: Equatable {
        /// An element begins. Its attributes are named as they are written.
        case start(String, [String: String])
        /// A part of an element's text.
        case text(String)
        case end(String)
    }

    /// The reason why a document is not read.
    package struct Fault: Error, Equatable {
        package let line: Int
        package let column: Int
        /// The end of a sentence about the file: "is not in UTF-8, …".
        package let reason: String
        /// Whether it is no XML; false for XML that is not accepted.
        package let isMalformed: Bool
    }

    /// The deepest nesting of elements that is accepted. Models and mapping models nest five levels at most.
    static let depthMax = 200
    /// The most attributes that an element may have.
    static let attributeMax = 1000
    /// The largest size of an element's tag in bytes.
    static let tagMax = 8 << 20

    let bytes: [UInt8]
    /// The plural name of such files, for errors.
    private let kind: String
    /// Whether a document type that declares no entities is accepted.
    private let mayHaveType: Bool
    /// Whether characters are accepted that XML does not have, as servers of S3 write them.
    let takesAllCharacters: Bool
    var at = 0
    /// The names of the open elements, the outermost first.
    private var open: [String] = []
    var isInElement: Bool { !open.isEmpty }
    private var hasRoot = false
    /// Whether the start of an empty element was returned, and its end was not.
    private var endsEmptyElement = false
    /// The line at `counted`.
    private var lineCounted = 1
    private var counted = 0

    /// - Parameter kind: the plural name of such files, for errors.
    /// - Parameter mayHaveType: true accepts a document type that declares no entities.
    /// - Parameter takesAllCharacters: true accepts characters that XML does not have.
    package init(_ bytes: [UInt8], kind: String, mayHaveType: Bool = false, takesAllCharacters: Bool = false) throws(Fault) {
        self.bytes = bytes
        self.kind = kind
        self.mayHaveType = mayHaveType
        self.takesAllCharacters = takesAllCharacters
        if let found = bytes.withUnsafeBytes({ XMLEncoding.fault(in: $0, kind) }) { throw refusal(found.reason, at: found.offset) }
        if bytes.starts(with: XMLEncoding.mark) { at = XMLEncoding.mark.count }
        // The declaration was read with the encoding.
        if looks(at: "<?xml"), at + 5 < bytes.count, Self.isSpace(bytes[at + 5]) { at = try end(of: "?>", from: at + 5) }
    }

    /// The line of the last event's last byte, from 1.
    package var line: Int { lineCounted }

    /// - Returns: nil behind the root element.
    package mutating func next() throws(Fault) -> Event? {
        let event = try event()
        // A tag's last byte is its `>`.
        bytes.withUnsafeBytes { bytes in
            while let newline = bytes.offset(of: 0x0A, from: counted), newline < at - 1 {
                lineCounted += 1
                counted = newline + 1
            }
        }
        return event
    }

    /// Reads the elements of a document, and passes over their texts.
    /// - Parameter goesOn: asked before each element's start and end.
    /// - Parameter start: gets an element's name, its attributes and the line where its tag ends.
    package static func elements(
        of data: Data, kind: String, while goesOn: () -> Bool, start: (String, [String: String], Int) -> Void, end: (String) -> Void
    ) throws(Fault) {
        var reader = try XMLReader([UInt8](data), kind: kind)
        while goesOn(), let event = try reader.next() {
            switch event {
            case .start(let name, let values): start(name, values, reader.line)
            case .end(let name): end(name)
            case .text: break
            }
        }
    }

    private mutating func event() throws(Fault) -> Event? {
        if endsEmptyElement {
            endsEmptyElement = false
            return .end(open.removeLast())
        }
        while at < bytes.count {
            if bytes[at] != UInt8(ascii: "<") {
                if let text = try text() { return .text(text) }
            } else if looks(at: "<!--") {
                try skipComment()
            } else if looks(at: "<?") {
                try skipInstruction()
            } else if looks(at: "</") {
                return try endTag()
            } else if looks(at: "<![CDATA["), !open.isEmpty {
                let start = at + 9
                at = try end(of: "]]>", from: start)
                return .text(try string(start..<at - 3))
            } else if looks(at: "<!") {
                try skipType()
            } else {
                return try startTag()
            }
        }
        guard hasRoot, open.isEmpty else { throw fault("ends before its root element does") }
        return nil
    }

    // MARK: Faults

    /// The error for bytes that are no XML.
    func fault(_ reason: String, at offset: Int? = nil) -> Fault { fault(reason, offset, isMalformed: true) }

    /// The error for a document that is not accepted.
    /// - Parameter offset: nil for the reader's position.
    package func refusal(_ reason: String, at offset: Int? = nil) -> Fault { fault(reason, offset, isMalformed: false) }

    private func fault(_ reason: String, _ offset: Int?, isMalformed: Bool) -> Fault {
        let position = bytes.withUnsafeBytes { TextPosition(min(offset ?? at, bytes.count), in: $0) }
        return Fault(line: position.line, column: position.column, reason: reason, isMalformed: isMalformed)
    }

    // MARK: Bytes

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    func looks(at text: StaticString) -> Bool {
        guard bytes.count - at >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[at + index] != text.utf8Start[index] { return false }
        return true
    }

    func offset(of byte: UInt8) -> Int? { bytes.withUnsafeBytes { $0.offset(of: byte, from: at) } }

    /// The offset behind the next occurrence of a mark.
    func end(of mark: StaticString, from start: Int) throws(Fault) -> Int {
        let found = bytes.withUnsafeBytes { bytes -> Int? in
            var from = start
            while let at = bytes.offset(of: mark.utf8Start[0], from: from) {
                if bytes[at...].starts(with: UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)) { return at }
                from = at + 1
            }
            return nil
        }
        guard let found else { throw fault("ends before a \(mark)", at: bytes.count) }
        return found + mark.utf8CodeUnitCount
    }

    /// Skips white space; false if there is none.
    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = at
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
        return at > start
    }

    private mutating func expect(_ byte: Unicode.Scalar, _ reason: String) throws(Fault) {
        guard at < bytes.count, bytes[at] == UInt8(ascii: byte) else { throw fault(reason) }
        at += 1
    }

    // MARK: Beside elements

    private mutating func skipComment() throws(Fault) {
        let start = at + 4
        at = try end(of: "--", from: start)
        _ = try string(start..<at - 2)
        try expect(">", "has two hyphens in a comment")
    }

    private mutating func skipInstruction() throws(Fault) {
        let start = at
        at += 2
        while at < bytes.count, bytes[at] > 0x20, bytes[at] != UInt8(ascii: "?"), bytes[at] != UInt8(ascii: ">") { at += 1 }
        let end = at
        guard skipSpace(), at < bytes.count, !looks(at: "?>") else {
            throw refusal("has a processing instruction without data, which \(kind) never have; it was not read", at: start)
        }
        let data = at
        at = start + 2
        guard try name().lowercased() != "xml", at == end else { throw fault("has an XML declaration that is not at its start", at: start) }
        at = try self.end(of: "?>", from: data)
        _ = try string(data..<at - 2)
    }

    private mutating func skipType() throws(Fault) {
        let start = at, isType = looks(at: "<!DOCTYPE")
        guard isType || looks(at: "<!ENTITY") else { throw fault("has a damaged tag") }
        let declares = refusal("declares XML entities, which \(kind) never do; it was not read", at: start)
        guard isType, mayHaveType else { throw declares }
        guard !hasRoot else { throw fault("has a document type behind the start of its root element") }
        at += 9
        guard skipSpace() else { throw fault("has a damaged document type") }
        var isInternal = false
        while at < bytes.count {
            let byte = bytes[at]
            if looks(at: "<!ENTITY") { throw declares }
            if looks(at: "<!--") {
                try skipComment()
                continue
            }
            at += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): at = (offset(of: byte) ?? bytes.count - 1) + 1
            case UInt8(ascii: "["): isInternal = true
            case UInt8(ascii: "]"): isInternal = false
            case UInt8(ascii: ">") where !isInternal: return
            default: break
            }
        }
        throw fault("ends within a document type")
    }

    // MARK: Tags

    private mutating func startTag() throws(Fault) -> Event {
        let start = at
        guard !hasRoot || !open.isEmpty else { throw fault("goes on after its root element") }
        guard open.count < Self.depthMax else { throw refusal("has elements nested more than \(Self.depthMax) deep", at: start) }
        at += 1
        let element = try name()
        var attributes: [String: String] = [:]
        while true {
            let isApart = skipSpace()
            guard at < bytes.count else { throw fault("ends within a tag") }
            let byte = bytes[at]
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") { break }
            guard isApart else { throw fault("has a damaged tag") }
            let (key, value) = try attribute()
            guard attributes.updateValue(value, forKey: key) == nil else { throw fault("has an element with two attributes \(key)") }
            guard attributes.count <= Self.attributeMax else {
                throw refusal("has an element with more than \(Self.attributeMax) attributes", at: start)
            }
        }
        if bytes[at] == UInt8(ascii: "/") {
            at += 1
            endsEmptyElement = true
        }
        try expect(">", "has a damaged tag")
        guard at - start <= Self.tagMax else {
            throw refusal("has an element's tag of more than \(Self.tagMax >> 20) MiB", at: start)
        }
        hasRoot = true
        open.append(element)
        return .start(element, attributes)
    }

    private mutating func endTag() throws(Fault) -> Event {
        let start = at
        at += 2
        let element = try name()
        skipSpace()
        try expect(">", "has a damaged tag")
        guard open.popLast() == element else { throw fault("closes another element than is open", at: start) }
        return .end(element)
    }

    private mutating func attribute() throws(Fault) -> (key: String, value: String) {
        let key = try name()
        skipSpace()
        try expect("=", "has an attribute without a value")
        skipSpace()
        let quote = at < bytes.count ? bytes[at] : 0
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw fault("has an attribute without quotes") }
        at += 1
        guard let end = offset(of: quote) else { throw fault("ends within a tag", at: bytes.count) }
        let value = try value(at..<end, isAttribute: true)
        at = end + 1
        return (key, value)
    }
}

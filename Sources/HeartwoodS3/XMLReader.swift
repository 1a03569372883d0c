/// Reads the small XML documents of S3's answers.
///
/// Foundation's parser is not used: it would bring libxml2 into every program with this module, it ends the process at some documents off
/// Apple's platforms, and it follows entities. This reader takes elements, text, CDATA, comments and processing instructions. It refuses
/// document types, and every document beyond its limits.
struct XMLReader {
    struct Fault: Error, Equatable {
        let offset: Int
        let reason: String
    }

    /// S3's answers nest four levels, and a listing's page has 1000 objects of about ten elements.
    static let depthMax = 32, nodesMax = 200_000

    private let bytes: ArraySlice<UInt8>
    private var at: Int
    private var nodes = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
        // A byte order mark.
        at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// The root element.
    static func read(_ bytes: [UInt8]) throws(Fault) -> XMLNode {
        var reader = XMLReader(bytes)
        try reader.skipOutside()
        guard reader.at < bytes.count else { throw reader.fault("has no element") }
        let root = try reader.root()
        try reader.skipOutside()
        guard reader.at == bytes.count else { throw reader.fault("goes on after its root element") }
        return root
    }

    private func fault(_ reason: String) -> Fault { Fault(offset: at, reason: reason) }

    private func looks(at text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[at...].starts(with: $0) }
    }

    /// The bytes until a mark, behind which reading goes on.
    private mutating func until(_ mark: StaticString, _ kind: String) throws(Fault) -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count {
            if looks(at: mark) {
                defer { at += mark.utf8CodeUnitCount }
                return bytes[start..<at]
            }
            at += 1
        }
        throw fault("ends within \(kind)")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Skips spaces, comments and instructions before and behind the root.
    private mutating func skipOutside() throws(Fault) {
        while at < bytes.count {
            if Self.isSpace(bytes[at]) {
                at += 1
            } else if try !skipAside() {
                guard bytes[at] == UInt8(ascii: "<"), !looks(at: "<!"), !looks(at: "</") else {
                    throw fault("has text or a document type beside its root")
                }
                return
            }
        }
    }

    /// Skips a comment or an instruction; false if there is none.
    private mutating func skipAside() throws(Fault) -> Bool {
        if looks(at: "<!--") {
            _ = try until("-->", "a comment")
        } else if looks(at: "<?") {
            _ = try until("?>", "an instruction")
        } else {
            return false
        }
        return true
    }

    /// Without recursion, so that no document can exhaust a thread's stack.
    private mutating func root() throws(Fault) -> XMLNode {
        var open: [XMLNode] = []
        while true {
            if at >= bytes.count { throw fault("ends within an element") }
            if bytes[at] != UInt8(ascii: "<") {
                open[open.count - 1].text += try text()
            } else if looks(at: "<![CDATA[") {
                guard !open.isEmpty else { throw fault("has CDATA beside its root") }
                at += 9
                open[open.count - 1].text += try string(until("]]>", "CDATA"))
            } else if try skipAside() {
                continue
            } else if looks(at: "<!") {
                throw fault("has a document type")
            } else if looks(at: "</") {
                guard let node = open.popLast(), try endTag() == node.name else { throw fault("closes another element than is open") }
                guard !open.isEmpty else { return node }
                open[open.count - 1].children.append(node)
            } else if let node = try startTag(depth: open.count) {
                open.append(node.element)
                guard node.isEmpty else { continue }
                open.removeLast()
                guard !open.isEmpty else { return node.element }
                open[open.count - 1].children.append(node.element)
            }
        }
    }

    private mutating func startTag(depth: Int) throws(Fault) -> (element: XMLNode, isEmpty: Bool)? {
        nodes += 1
        guard depth < Self.depthMax, nodes <= Self.nodesMax else { throw fault("has more elements than an answer of S3") }
        at += 1
        let name = try name()
        try skipAttributes()
        let isEmpty = looks(at: "/>")
        guard isEmpty || looks(at: ">") else { throw fault("has a damaged tag") }
        at += isEmpty ? 2 : 1
        return (XMLNode(name: name), isEmpty)
    }

    private mutating func endTag() throws(Fault) -> String {
        at += 2
        let name = try name()
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
        guard looks(at: ">") else { throw fault("has a damaged tag") }
        at += 1
        return name
    }

    private mutating func name() throws(Fault) -> String {
        let start = at
        while at < bytes.count, !Self.isSpace(bytes[at]), !"<>/=\"'&".utf8.contains(bytes[at]) { at += 1 }
        guard at > start, at - start <= 256 else { throw fault("has a tag without a name, or with one of more than 256 bytes") }
        let whole = try string(bytes[start..<at])
        return whole.split(separator: ":").last.map(String.init) ?? whole
    }

    /// Stops at the tag's `>` or `/>`.
    private mutating func skipAttributes() throws(Fault) {
        while at < bytes.count, bytes[at] != UInt8(ascii: ">"), !looks(at: "/>") {
            let byte = bytes[at]
            guard byte != UInt8(ascii: "<") else { throw fault("has a damaged tag") }
            at += 1
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { continue }
            while at < bytes.count, bytes[at] != byte { at += 1 }
            at += 1
        }
        guard at < bytes.count else { throw fault("ends within a tag") }
    }

    /// Text up to the next tag, its references replaced.
    private mutating func text() throws(Fault) -> String {
        var result: [UInt8] = []
        while at < bytes.count, bytes[at] != UInt8(ascii: "<") {
            if bytes[at] == UInt8(ascii: "&") {
                result += Array(try reference().utf8)
            } else {
                result.append(bytes[at])
                at += 1
            }
        }
        return try string(result[...])
    }

    private mutating func reference() throws(Fault) -> String {
        let start = at
        guard let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { throw fault("has an unknown reference") }
        let name = try string(bytes[(at + 1)..<end])
        at = end + 1
        if let text = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"][name] { return text }
        let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
        guard let scalar = number.flatMap(UnicodeScalar.init) else { throw Fault(offset: start, reason: "has an unknown reference") }
        return String(Character(scalar))
    }

    private func string(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault("is not in UTF-8") }
        return text
    }
}

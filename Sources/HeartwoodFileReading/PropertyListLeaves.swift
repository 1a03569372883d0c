import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the texts and the data in nested dictionaries of a property list, by the keys that lead to them. Arrays are left out.
///
/// Foundation's reader recurses for each level of a list, and takes a file that is no XML for a list of an older form. This reader takes XML and
/// binary lists, and neither of its loops recurses.
package enum PropertyListLeaves {
    package enum Leaf: Equatable {
        case text(String)
        case data(Data)
    }

    /// In bytes.
    private static let sizeMax = 16 << 20
    fileprivate static let depthMax = 8
    /// The most objects that are read of a binary list, whose parts may be shared.
    private static let visitMax = 1_000_000

    /// - Returns: nil if the bytes are no property list whose outermost object is a dictionary.
    package static func read(_ data: Data) -> [[String]: Leaf]? {
        guard data.count <= sizeMax else { return nil }
        if data.starts(with: BinaryPropertyList.magic) { return try? binary(Array(data)) }
        guard (try? XMLCheck.check(data, kind: "property lists", mayHaveType: true)) != nil else { return nil }
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let reader = LeafReader()
        parser.delegate = reader
        return parser.parse() && reader.isWhole && reader.hasDictionary ? reader.leaves : nil
    }

    private static func binary(_ bytes: [UInt8]) throws(BinaryPropertyList.Damage) -> [[String]: Leaf]? {
        let list = try BinaryPropertyList(bytes)
        guard case .dictionary = try list.object(list.root) else { return nil }
        var leaves: [[String]: Leaf] = [:], open: [(object: Int, path: [String])] = [(list.root, [])], visits = 0
        while let (number, path) = open.popLast() {
            visits += 1
            guard visits + open.count <= visitMax, path.count <= depthMax else { return nil }
            switch try list.object(number) {
            case .text(let text): leaves[path] = .text(text)
            case .data(let data): leaves[path] = .data(data)
            case .dictionary(let pairs):
                for pair in pairs {
                    guard case .text(let key) = try list.object(pair.key) else { continue }
                    open.append((pair.value, path + [key]))
                }
            default: break
            }
        }
        return leaves
    }
}

private final class LeafReader: NSObject, XMLParserDelegate {
    private(set) var leaves: [[String]: PropertyListLeaves.Leaf] = [:]
    private(set) var isWhole = true
    private(set) var hasDictionary = false
    /// The current key of each open dictionary, the outermost first.
    private var keys: [String] = []
    private var arrayDepth = 0
    private var text = ""

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) { isWhole = false }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) {
        text = ""
        switch name {
        case "array": arrayDepth += 1
        case "dict" where arrayDepth == 0:
            hasDictionary = true
            keys.append("")
            if keys.count > PropertyListLeaves.depthMax {
                isWhole = false
                parser.abortParsing()
            }
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) { text += String(decoding: block, as: UTF8.self) }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if name == "array" { arrayDepth -= 1 }
        guard arrayDepth == 0, !keys.isEmpty else { return }
        switch name {
        case "key": keys[keys.count - 1] = text
        case "string": leaves[keys] = .text(text)
        case "data": leaves[keys] = Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { .data($0) }
        case "dict": keys.removeLast()
        default: break
        }
    }
}

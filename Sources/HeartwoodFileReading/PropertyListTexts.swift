import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the strings of a property list's outermost dictionary. One of them names a model's current version.
///
/// Foundation's reader recurses for each level of a list, and a list may have almost as many levels as bytes. This reader takes XML and
/// binary lists, and never descends below the outermost dictionary.
package enum PropertyListTexts {
    /// - Returns: nil if the bytes are no property list whose outermost object is a dictionary.
    package static func read(_ data: Data) -> [String: String]? {
        guard data.count <= sizeMax else { return nil }
        if data.starts(with: BinaryPropertyList.magic) { return try? binary(Array(data)) }
        guard (try? XMLCheck.check(data, kind: "property lists", mayHaveType: true)) != nil else { return nil }
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let reader = PropertyListReader()
        parser.delegate = reader
        return parser.parse() && reader.isWhole && reader.hasDictionary ? reader.texts : nil
    }

    /// In bytes. A list that names a version has a few kilobytes.
    private static let sizeMax = 16 << 20

    private static func binary(_ bytes: [UInt8]) throws(BinaryPropertyList.Damage) -> [String: String]? {
        let list = try BinaryPropertyList(bytes)
        guard case .dictionary(let pairs) = try list.object(list.root) else { return nil }
        var texts: [String: String] = [:]
        for pair in pairs {
            guard case .text(let key) = try list.object(pair.key), case .text(let value) = try list.object(pair.value) else { continue }
            texts[key] = value
        }
        return texts
    }
}

private final class PropertyListReader: NSObject, XMLParserDelegate {
    private(set) var texts: [String: String] = [:]
    private(set) var isWhole = true
    private(set) var hasDictionary = false
    /// The names of the open elements, the outermost first.
    private var path: [String] = []
    private var key: String?
    private var text = ""

    private var isInDictionary: Bool { path.count == 3 && path[0] == "plist" && path[1] == "dict" }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) { isWhole = false }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) {
        path.append(name)
        if path == ["plist", "dict"] { hasDictionary = true }
        if isInDictionary { text = "" }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if isInDictionary { text += string }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if isInDictionary { text += String(decoding: block, as: UTF8.self) }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if isInDictionary {
            if name == "key" {
                key = text
            } else {
                if name == "string", let key { texts[key] = text }
                key = nil
            }
        }
        if !path.isEmpty { path.removeLast() }
    }
}

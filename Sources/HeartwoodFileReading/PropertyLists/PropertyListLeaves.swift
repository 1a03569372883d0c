import Foundation

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
    private static let depthMax = 8
    /// The most objects that are read of a binary list, whose parts may be shared.
    private static let visitMax = 1_000_000

    /// - Returns: nil if the bytes are no property list whose outermost object is a dictionary, or if it nests more than eight dictionaries.
    package static func read(_ data: Data) -> [[String]: Leaf]? { leaves(data, depthMax: depthMax, refusesDeeper: true) }

    /// The strings of the outermost dictionary. One of them names a model's current version.
    /// - Returns: nil if the bytes are no property list whose outermost object is a dictionary.
    package static func texts(_ data: Data) -> [String: String]? {
        guard let leaves = leaves(data, depthMax: 1, refusesDeeper: false) else { return nil }
        var texts: [String: String] = [:]
        for (path, leaf) in leaves {
            if case .text(let text) = leaf { texts[path[0]] = text }
        }
        return texts
    }

    /// - Parameter refusesDeeper: whether a list with more levels is refused; else they are left out.
    private static func leaves(_ data: Data, depthMax: Int, refusesDeeper: Bool) -> [[String]: Leaf]? {
        guard data.count <= sizeMax else { return nil }
        if data.starts(with: BinaryPropertyList.magic) { return try? binary(Array(data), depthMax, refusesDeeper) }
        var leaves = LeafReader(depthMax: depthMax, refusesDeeper: refusesDeeper)
        return (try? leaves.read(Array(data))) == true ? leaves.leaves : nil
    }

    private static func binary(
        _ bytes: [UInt8], _ depthMax: Int, _ refusesDeeper: Bool
    ) throws(BinaryPropertyList.Damage) -> [[String]: Leaf]? {
        let list = try BinaryPropertyList(bytes)
        guard case .dictionary = try list.object(list.root) else { return nil }
        var leaves: [[String]: Leaf] = [:], open: [(object: Int, path: [String])] = [(list.root, [])], visits = 0
        while let (number, path) = open.popLast() {
            visits += 1
            guard visits + open.count <= visitMax else { return nil }
            guard path.count <= depthMax else { return nil }
            switch try list.object(number) {
            case .text(let text): leaves[path] = .text(text)
            case .data(let data): leaves[path] = .data(data)
            case .dictionary(let pairs):
                if path.count == depthMax, !refusesDeeper { continue }
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

private struct LeafReader {
    let depthMax: Int
    let refusesDeeper: Bool
    private(set) var leaves: [[String]: PropertyListLeaves.Leaf] = [:]
    /// The current key of each open dictionary, the outermost first. It is nil behind its value.
    private var keys: [String?] = []
    private var hasDictionary = false
    /// The open arrays, and the dictionaries that are too deep.
    private var ignored = 0
    private var text = ""

    init(depthMax: Int, refusesDeeper: Bool) {
        self.depthMax = depthMax
        self.refusesDeeper = refusesDeeper
    }

    /// - Returns: false if the list is refused, or has no dictionary.
    mutating func read(_ bytes: [UInt8]) throws(XMLReader.Fault) -> Bool {
        var reader = try XMLReader(bytes, kind: "property lists", mayHaveType: true)
        while let event = try reader.next() {
            switch event {
            case .start(let name, _): if !start(name) { return false }
            case .text(let part): if ignored == 0 { text += part }
            case .end(let name): end(name)
            }
        }
        return hasDictionary
    }

    private mutating func start(_ name: String) -> Bool {
        text = ""
        if name == "array" || name == "dict" && ignored > 0 {
            ignored += 1
        } else if name == "dict" {
            hasDictionary = true
            if keys.count < depthMax {
                keys.append(nil)
            } else {
                if refusesDeeper { return false }
                ignored += 1
            }
        }
        return true
    }

    private mutating func end(_ name: String) {
        if ignored > 0 {
            if name == "array" || name == "dict" { ignored -= 1 }
            if ignored == 0, !keys.isEmpty { keys[keys.count - 1] = nil }
            return
        }
        guard !keys.isEmpty else { return }
        switch name {
        case "key":
            keys[keys.count - 1] = text
            return
        case "string": add(.text(text))
        case "data": if let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) { add(.data(data)) }
        case "dict": keys.removeLast()
        default: break
        }
        if !keys.isEmpty { keys[keys.count - 1] = nil }
    }

    private mutating func add(_ leaf: PropertyListLeaves.Leaf) {
        let path = keys.compactMap(\.self)
        if path.count == keys.count { leaves[path] = leaf }
    }
}

import Foundation

/// The folders of one target as layers, lowest first, and the references between them as text tells: a file may name what its own layer
/// and those below declare.
///
/// A name counts as declared above where a layer above declares it, and none below nor the file itself does. Of members those count that a
/// layer above adds to a type from below: to reach a member of a type from above, a file has to name that type first. A member's name says
/// nothing where libraries have it too, as another target shows that uses it and does not declare it.
struct Layers {
    struct Reference: CustomStringConvertible {
        let path: String
        let line: Int
        let symbol: String
        let declaration: String

        var description: String { "\(path):\(line): \(symbol) is declared above, in \(declaration)" }
    }

    let order: [String]
    let files: [SwiftSource]
    /// Member names that libraries have.
    let foreign: Set<String>

    init(_ order: [String], files: [SwiftSource], foreign: Set<String> = []) {
        self.order = order
        self.files = files.sorted { $0.path < $1.path }
        self.foreign = foreign
    }

    /// Files that lie in none of the layers.
    var strays: [String] { files.filter { !order.contains($0.floor) }.map(\.path) }

    /// Every reference from a layer to one above.
    var upward: [Reference] {
        let ranks = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        // By name: the lowest layer that declares it, and where.
        var names: [String: (rank: Int, path: String)] = [:], members = names
        func note(_ name: String, _ rank: Int, _ path: String, in table: inout [String: (rank: Int, path: String)]) {
            if table[name].map({ rank < $0.rank }) ?? true { table[name] = (rank, path) }
        }
        for file in files {
            guard let rank = ranks[file.floor] else { continue }
            for name in file.names { note(name, rank, file.path, in: &names) }
            for name in file.members.values.joined() { note(name, rank, file.path, in: &members) }
        }
        // By layer: the members that layers above add to types from below, or from other targets.
        var added: [[String: String]] = Array(repeating: [:], count: order.count)
        for file in files {
            guard let rank = ranks[file.floor] else { continue }
            for (type, list) in file.members {
                let home = names[type]?.rank ?? members[type]?.rank ?? 0
                guard home < rank else { continue }
                for lower in home..<rank { for name in list where !foreign.contains(name) { added[lower][name] = file.path } }
            }
        }
        var found: [Reference] = []
        for file in files {
            guard let rank = ranks[file.floor] else { continue }
            for token in file.tokens.list where !file.known.contains(token.text) {
                let declaration = token.isMember
                    ? added[rank][token.text].flatMap { path in members[token.text].map { $0.rank > rank } ?? false ? path : nil }
                    : names[token.text].flatMap { $0.rank > rank ? $0.path : nil }
                guard let declaration else { continue }
                found.append(Reference(path: file.path, line: token.line, symbol: token.text, declaration: declaration))
            }
        }
        return found
    }

    /// The Swift files below a folder.
    static func files(in folder: URL) throws -> [SwiftSource] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try paths.map { SwiftSource(path: $0, source: [UInt8](try Data(contentsOf: folder.appendingPathComponent($0)))) }
    }

    /// The member names that a target's files use and do not declare.
    static func foreignMembers(of files: [SwiftSource]) -> Set<String> {
        var declared: Set<String> = [], used: Set<String> = []
        for file in files {
            declared.formUnion(file.known)
            for token in file.tokens.list where token.isMember { used.insert(token.text) }
        }
        return used.subtracting(declared)
    }
}

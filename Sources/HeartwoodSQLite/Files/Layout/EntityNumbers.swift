import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// The numbers by which a store's rows name their entities: `Z_PRIMARYKEY`. They are read, and computed only to write a new store.
struct EntityNumbers {
    struct Entry: Equatable {
        let number: Int64
        let name: String
        /// 0 for a root entity.
        let parent: Int64
        /// The greatest primary key that was given; 0 for an entity with a superentity.
        let keyMax: Int64
    }

    let entries: [Entry]
    private let byName: [String: Int64]
    private let roots: [Int64: Int64]

    /// The deepest inheritance. Reading inherited properties recurses for each ancestor.
    private static let depthMax = 200

    /// Core Data's entities for history have numbers from here.
    static let bookkeepingMin: Int64 = 16000

    /// The names of the entities whose objects the store has.
    var objectEntities: Set<String> { Set(entries.filter { $0.number < Self.bookkeepingMin }.map(\.name)) }

    init(_ entries: [Entry]) {
        self.entries = entries
        byName = Dictionary(entries.map { ($0.name, $0.number) }) { first, _ in first }
        roots = Self.roots(Dictionary(entries.map { ($0.number, $0.parent) }) { first, _ in first })
    }

    private static func roots(_ parents: [Int64: Int64]) -> [Int64: Int64] {
        parents.reduce(into: [:]) { roots, entry in
            var current = entry.key, depth = 0
            while let parent = parents[current], parent != 0, depth <= depthMax { (current, depth) = (parent, depth + 1) }
            if depth <= depthMax { roots[entry.key] = current }
        }
    }

    init(_ file: SQLiteFile) throws {
        let table = try file.table(named: "Z_PRIMARYKEY")
        var entries: [Entry] = []
        let columns = ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"].map(table.index(ofColumn:))
        guard let number = columns[0], let name = columns[1] else {
            throw CoreDataFileError.damaged(file.path, "the table Z_PRIMARYKEY has no columns Z_ENT and Z_NAME")
        }
        try table.forEachRow { row in
            guard let value = try row.integer(number), let text = try row.string(name), value > 0, value <= UInt16.max else {
                throw CoreDataFileError.damaged(file.path, "row \(row.rowid) of Z_PRIMARYKEY has no entity number and name")
            }
            let parent = try columns[2].flatMap { try row.integer($0) } ?? 0, keyMax = try columns[3].flatMap { try row.integer($0) } ?? 0
            entries.append(Entry(number: value, name: text, parent: parent, keyMax: keyMax))
            return true
        }
        self.init(entries)
    }

    /// Facts, "Z_PRIMARYKEY": after a migration that renamed an entity, the old name may still be there.
    func number(of entity: NSEntityDescription) -> Int64? {
        entity.name.flatMap { byName[$0] } ?? entity.renamingIdentifier.flatMap { byName[$0] }
    }

    func number(named name: String) -> Int64? { byName[name] }

    /// The root of an entity's hierarchy; nil if the parents make a circle, or are very many.
    func root(of number: Int64) -> Int64? { roots[number] }

    /// The numbers that Core Data gives to the entities of a new store. Facts, "Z_PRIMARYKEY": case-insensitive alphabetical order, each
    /// hierarchy depth-first.
    static func computed(for entities: [NSEntityDescription]) -> EntityNumbers {
        let known = Set(entities.map(ObjectIdentifier.init))
        var entries: [Entry] = []
        func add(_ list: [NSEntityDescription], parent: Int64) {
            for entity in sorted(list) where known.contains(ObjectIdentifier(entity)) {
                let number = Int64(entries.count + 1)
                entries.append(Entry(number: number, name: entity.name ?? "", parent: parent, keyMax: 0))
                add(entity.subentities, parent: number)
            }
        }
        add(entities.filter { $0.superentity.map { !known.contains(ObjectIdentifier($0)) } ?? true }, parent: 0)
        return EntityNumbers(entries)
    }

    /// By name, as Core Data numbers them.
    static func sorted(_ list: [NSEntityDescription]) -> [NSEntityDescription] {
        list.map { (folded: ($0.name ?? "").lowercased(), name: $0.name ?? "", entity: $0) }
            .sorted { ($0.folded, $0.name) < ($1.folded, $1.name) }.map(\.entity)
    }
}

import Foundation
import Heartwood
import RecordLog

/// The rows, columns and pairs of a store's former version, with those of the new one that they become.
///
/// An entity that both versions have keeps its number, and an object the number of its row.
struct VersionMapping {
    let old: PostgreSQLLayout
    let new: PostgreSQLLayout
    let comparison: ModelComparison
    /// By the number of a new entity: what it was.
    private(set) var sources: [Int16: (entity: BoundEntity, pair: ModelComparison.EntityPair)] = [:]
    /// By new family: the former family whose table stays. Rows of other tables move.
    private(set) var kept: [Int: Int] = [:]
    /// By new relationship: what it was, for each entity.
    private var relationships: [ObjectIdentifier: [FormerRelationship]] = [:]

    init(_ old: PostgreSQLLayout, _ new: PostgreSQLLayout, _ comparison: ModelComparison) {
        (self.old, self.new, self.comparison) = (old, new, comparison)
        let byName = Dictionary(old.entities.map { ($0.description.name ?? "", $0) }) { first, _ in first }
        for entity in new.entities {
            guard let pair = comparison.pair(to: entity.description), !pair.source.isAbstract, let source = byName[pair.source.name ?? ""] else { continue }
            sources[entity.number] = (source, pair)
            for case let (before as NSRelationshipDescription, after as NSRelationshipDescription) in pair.properties.map({ ($0.source, $0.destination) }) {
                guard let former = FormerRelationship(before, of: source, old) else { continue }
                relationships[ObjectIdentifier(after), default: []].append(former)
            }
        }
        findTables()
    }

    /// The table with most of a family's entities stays; of several the first.
    private mutating func findTables() {
        var taken: Set<Int> = []
        for family in new.families.indices {
            var counts: [Int: Int] = [:]
            for source in new.entities.filter({ $0.family == family }).compactMap({ sources[$0.number] }) { counts[source.entity.family, default: 0] += 1 }
            let free = counts.filter { !taken.contains($0.key) }
            guard let best = free.max(by: { ($0.value, -$0.key) < ($1.value, -$1.key) }) else { continue }
            kept[family] = best.key
            taken.insert(best.key)
        }
    }

    /// The entities of a new family, with what they were.
    func entities(of family: Int) -> [(entity: BoundEntity, source: BoundEntity?)] {
        new.entities.filter { $0.family == family }.map { ($0, sources[$0.number]?.entity) }
    }

    /// Whether a family has the rows that its table had.
    func hasSameRows(_ family: Int) -> Bool {
        guard let table = kept[family] else { return false }
        let stay = entities(of: family).compactMap(\.source)
        return stay.allSatisfy { $0.family == table } && stay.count == old.entities.filter { $0.family == table }.count
    }

    /// The numbers of the entities whose former rows can be at the end of a relationship.
    func numbers(of destination: NSEntityDescription?) -> Set<Int16> {
        guard let destination else { return [] }
        return Set(new.entities.filter { $0.description.isKindOf(entity: destination) && sources[$0.number] != nil }.map(\.number))
    }

    // MARK: Relationships

    func formers(of relationship: NSRelationshipDescription) -> [FormerRelationship] { relationships[ObjectIdentifier(relationship)] ?? [] }

    /// Whether a relationship and its inverse were inverses of each other before, as far as both existed.
    func isConsistent(_ relationship: NSRelationshipDescription) -> Bool {
        let mine = formers(of: relationship).map(\.relationship)
        func isItsOwn(_ one: NSRelationshipDescription) -> Bool { one.inverseRelationship === one }
        guard let inverse = relationship.inverseRelationship else { return !mine.contains(where: isItsOwn) }
        if inverse === relationship { return mine.allSatisfy(isItsOwn) }
        let theirs = formers(of: inverse).map(\.relationship)
        guard !mine.isEmpty, !theirs.isEmpty else { return !(mine + theirs).contains(where: isItsOwn) }
        return mine.allSatisfy { one in theirs.contains { $0 === one.inverseRelationship } }
            && theirs.allSatisfy { one in mine.contains { $0 === one.inverseRelationship } }
    }

    /// The former pairs of a relationship: its own, or those of its inverse where only that existed, or only that had a table of pairs.
    func pairs(of relationship: NSRelationshipDescription) -> [FormerPairs] {
        let own = formers(of: relationship)
        if let inverse = relationship.inverseRelationship, inverse !== relationship {
            let theirs = formers(of: inverse)
            if own.isEmpty || !theirs.isEmpty && !own.contains(where: \.isLinked) && theirs.contains(where: \.isLinked) {
                let allowed = numbers(of: inverse.destinationEntity)
                return theirs.map { FormerPairs(former: $0, isInverted: true, members: allowed) }
            }
        }
        let allowed = numbers(of: relationship.destinationEntity)
        return own.map { FormerPairs(former: $0, isInverted: false, members: allowed) }
    }
}

extension BoundEntity {
    var description: NSEntityDescription { table.runtime.entity }

    func property(_ field: Field) -> NSPropertyDescription { description.propertiesByIndex[field.property] }
}

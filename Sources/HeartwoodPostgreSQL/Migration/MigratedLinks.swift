import Foundation
import Heartwood
import RecordLog

/// The tables of pairs in both versions: those that stay, and those whose pairs come from another storage.
struct MigratedLinks {
    private struct Step {
        let link: LinkTable
        let relationship: NSRelationshipDescription
        /// The former table that has the pairs and the columns already.
        let kept: LinkTable?
        /// The entities that kept pairs may lead from and to; nil where all may.
        let ends: (sources: Set<Int16>, destinations: Set<Int16>)?
    }

    private let mapping: VersionMapping
    private var steps: [Step] = []

    /// - Returns: nil where two relationships become inverses of each other or of themselves, or stop being so, while both existed before: no rule
    ///   says which pairs they have then.
    init?(_ mapping: VersionMapping) {
        self.mapping = mapping
        var taken: Set<String> = []
        for entity in mapping.new.entities {
            for field in entity.fields {
                guard let relationship = entity.property(field) as? NSRelationshipDescription else { continue }
                guard mapping.isConsistent(relationship) else { return nil }
            }
            for (property, source) in entity.table.members.enumerated() {
                guard case .link(let join, true)? = source,
                    let relationship = entity.description.propertiesByIndex[property] as? NSRelationshipDescription
                else { continue }
                guard mapping.isConsistent(relationship) else { return nil }
                let link = mapping.new.link(join)
                guard !steps.contains(where: { $0.link.name == link.name }) else { continue }
                let kept = Self.former(of: link, relationship, mapping).flatMap { taken.insert($0.name).inserted ? $0 : nil }
                steps.append(Step(link: link, relationship: relationship, kept: kept, ends: kept.flatMap { Self.ends($0, relationship, mapping) }))
            }
        }
    }

    private static func former(of link: LinkTable, _ relationship: NSRelationshipDescription, _ mapping: VersionMapping) -> LinkTable? {
        let formers = mapping.formers(of: relationship)
        guard let first = formers.first?.forwardLink, formers.allSatisfy({ $0.forwardLink?.name == first.name }),
            first.isOrdered == link.isOrdered, first.isInverseOrdered == link.isInverseOrdered
        else { return nil }
        return first
    }

    private static func ends(
        _ link: LinkTable, _ relationship: NSRelationshipDescription, _ mapping: VersionMapping
    ) -> (sources: Set<Int16>, destinations: Set<Int16>)? {
        let formers = mapping.formers(of: relationship)
        let sources = Set(formers.map(\.entity.number)), destinations = mapping.numbers(of: relationship.destinationEntity)
        let wasFrom = Set(mapping.old.entities.filter { entity in
            entity.table.members.contains { if case .link(let join, true)? = $0 { mapping.old.link(join).name == link.name } else { false } }
        }.map(\.number))
        let wasTo = formers.reduce(into: Set<Int16>()) { $0.formUnion($1.destinations(mapping.old)) }
        return wasFrom.isSubset(of: sources) && wasTo.isSubset(of: destinations) ? nil : (sources, destinations)
    }

    /// The tables that keep their names.
    var staying: Set<String> { Set(steps.compactMap { $0.kept?.name == $0.link.name ? $0.link.name : nil }) }

    /// The tables that go.
    var gone: [LinkTable] { mapping.old.links.filter { link in !steps.contains { $0.kept?.name == link.name } } }

    /// The former table of one; nil for a new one.
    func kept(_ link: LinkTable) -> LinkTable? { steps.first { $0.link.name == link.name }?.kept }

    // MARK: Statements

    func addTables(to list: inout MigrationSteps, _ names: WorkingNames) {
        for step in steps where step.kept == nil { list.add(SchemaStatements(mapping.new).table(step.link)) }
    }

    /// Fills new tables.
    func addPairs(to list: inout MigrationSteps, _ names: WorkingNames) {
        for step in steps where step.kept == nil {
            let selections = mapping.pairs(of: step.relationship).flatMap { $0.selections(names) }
            guard !selections.isEmpty else { continue }
            var columns = [LinkTable.source, LinkTable.sourceEntity, LinkTable.destination, LinkTable.destinationEntity]
            var values = ["p.owner", "p.owner_e", "p.member", "p.member_e"]
            if step.link.isOrdered {
                columns.append(LinkTable.position)
                values.append(Self.position("owner", "position", "member"))
            }
            if step.link.isInverseOrdered {
                columns.append(LinkTable.inversePosition)
                values.append(Self.position("member", "inverse_position", "owner"))
            }
            list.add(
                "INSERT INTO \(step.link.quoted) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", "))"
                    + " FROM (\(selections.joined(separator: " UNION ALL "))) p")
        }
    }

    /// Numbers the members of each owner: in their old order, or by row where they had none.
    private static func position(_ owner: String, _ position: String, _ member: String) -> String {
        "(row_number() OVER (PARTITION BY p.\(owner) ORDER BY coalesce(p.\(position), 0), p.\(member)_e, p.\(member)) - 1) * \(LinkOrder.distance)"
    }

    /// Removes the pairs of kept tables whose ends belong to the relationship no more.
    func addRemovals(to list: inout MigrationSteps, _ names: WorkingNames) {
        for step in steps {
            guard let kept = step.kept, let ends = step.ends else { continue }
            let conditions = [(LinkTable.sourceEntity, ends.sources), (LinkTable.destinationEntity, ends.destinations)].map { column, numbers in
                numbers.isEmpty ? "false" : FamilyTable.isOne(column, of: numbers.sorted())
            }
            list.add("DELETE FROM \(names.link(kept)) WHERE NOT (\(conditions.joined(separator: " AND ")))")
        }
    }

    func addFinalNames(to list: inout MigrationSteps, _ names: WorkingNames) {
        for step in steps {
            guard let kept = step.kept, names.link(kept) != step.link.quoted else { continue }
            list.add("ALTER TABLE \(names.link(kept)) RENAME TO \(SQLName.quoted(step.link.name))")
        }
    }
}

import Heartwood
import RecordLog

/// A relationship of one entity in a store's former version, and where its pairs are.
struct FormerRelationship {
    enum Storage {
        case column(BoundEntity.Field)
        case link(LinkTable, isForward: Bool)
        /// The columns of the inverse, each with its entity.
        case inverse([(entity: BoundEntity, field: BoundEntity.Field)])
    }

    let relationship: NSRelationshipDescription
    let entity: BoundEntity
    let storage: Storage

    init?(_ relationship: NSRelationshipDescription, of entity: BoundEntity, _ layout: PostgreSQLLayout) {
        guard let property = entity.table.runtime.index(of: relationship.name) else { return nil }
        (self.relationship, self.entity) = (relationship, entity)
        if let field = entity.field(property) {
            storage = .column(field)
            return
        }
        switch entity.table.members[property] {
        case .link(let join, let isForward): storage = .link(layout.link(join), isForward: isForward)
        case .inverse(let tables):
            let name = entity.table.runtime.inverseName(property) ?? ""
            storage = .inverse(tables.compactMap { layout.entity($0.table) }.compactMap { other in other.field(named: name).map { (other, $0) } })
        case nil: return nil
        }
    }

    var isLinked: Bool { if case .link = storage { true } else { false } }

    /// The table of pairs whose sources are the owners; nil where there is none.
    var forwardLink: LinkTable? { if case .link(let link, true) = storage { link } else { nil } }

    /// The numbers of the entities that could be at its end.
    func destinations(_ layout: PostgreSQLLayout) -> Set<Int16> {
        guard let property = entity.table.runtime.index(of: relationship.name) else { return [] }
        return Set(layout.destinations(of: property, entity).map(\.number))
    }
}

/// The former pairs of a relationship, as statements read them.
struct FormerPairs {
    let former: FormerRelationship
    /// Whether the pairs are those of the inverse.
    let isInverted: Bool
    /// The entities whose rows may be members of the former relationship.
    let members: Set<Int16>

    /// SELECTs of owner, owner_e, member, member_e, position and inverse_position.
    func selections(_ names: WorkingNames) -> [String] {
        guard !members.isEmpty else { return [] }
        return parts(names).map { part in
            let ends = isInverted
                ? [part.member, part.memberEntity, part.owner, part.ownerEntity] : [part.owner, part.ownerEntity, part.member, part.memberEntity]
            let places = isInverted ? [part.inversePosition, part.position] : [part.position, part.inversePosition]
            let columns = zip(ends + places, ["owner", "owner_e", "member", "member_e", "position", "inverse_position"]).map { "\($0) AS \($1)" }
            return "SELECT \(columns.joined(separator: ", ")) FROM \(part.table) o WHERE \(part.condition) AND "
                + FamilyTable.isOne(part.memberEntity, of: members.sorted())
        }
    }

    private struct Part {
        let table: String
        let owner: String
        let ownerEntity: String
        let member: String
        let memberEntity: String
        var position = "NULL::bigint"
        var inversePosition = "NULL::bigint"
        let condition: String
    }

    private func parts(_ names: WorkingNames) -> [Part] {
        let own = former.entity.number
        switch former.storage {
        case .column(let field):
            let column = "o." + names.column(former.entity.family, field.column)
            // A deletion leaves the references of a relationship without an inverse as they are.
            let there = former.relationship.inverseRelationship == nil ? names.existence(of: field, column) : ""
            return [
                Part(
                    table: names.table(former.entity.family), owner: "o." + FamilyTable.number, ownerEntity: "o." + FamilyTable.entity,
                    member: column, memberEntity: names.entity(of: field, former.entity.family),
                    condition: "o.\(FamilyTable.entity) = \(own) AND \(column) IS NOT NULL\(there)")
            ]
        case .inverse(let sources):
            return sources.map { other, field in
                let column = "o." + names.column(other.family, field.column), owner = names.entity(of: field, other.family)
                return Part(
                    table: names.table(other.family), owner: column, ownerEntity: owner, member: "o." + FamilyTable.number,
                    memberEntity: "o." + FamilyTable.entity,
                    condition: "o.\(FamilyTable.entity) = \(other.number) AND \(column) IS NOT NULL AND \(owner) = \(own)")
            }
        case .link(let link, let isForward):
            let ends = [("o." + LinkTable.source, "o." + LinkTable.sourceEntity), ("o." + LinkTable.destination, "o." + LinkTable.destinationEntity)]
            let (owner, member) = isForward ? (ends[0], ends[1]) : (ends[1], ends[0])
            let positions = [
                link.isOrdered ? "o." + LinkTable.position : "NULL::bigint", link.isInverseOrdered ? "o." + LinkTable.inversePosition : "NULL::bigint",
            ]
            return [
                Part(
                    table: names.link(link), owner: owner.0, ownerEntity: owner.1, member: member.0, memberEntity: member.1,
                    position: positions[isForward ? 0 : 1], inversePosition: positions[isForward ? 1 : 0], condition: "\(owner.1) = \(own)")
            ]
        }
    }
}

import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Writes the members of the relationships that have tables of pairs.
///
/// The forward side decides which pairs there are; the other side has an order only. The pairs of a deleted row go with it.
struct LinkSave {
    private struct Change {
        let object: SavedObject
        let owner: ObjectKey
        let property: Int
    }

    /// The changes of one side of a relationship.
    private struct Side {
        let link: LinkTable
        let isForward: Bool
        var changes: [Change] = []
        /// The place of its statement in the reading batch; nil where every owner is new.
        var reading: Int?

        var own: String { isForward ? LinkTable.source : LinkTable.destination }
        var ownEntity: String { isForward ? LinkTable.sourceEntity : LinkTable.destinationEntity }
        var far: String { isForward ? LinkTable.destination : LinkTable.source }
        var farEntity: String { isForward ? LinkTable.destinationEntity : LinkTable.sourceEntity }
        var position: String? {
            isForward ? link.isOrdered ? LinkTable.position : nil : link.isInverseOrdered ? LinkTable.inversePosition : nil
        }
    }

    /// What a side's table has of an owner.
    private struct Stored {
        var members: [ObjectKey] = []
        var positions: [ObjectKey: Int64] = [:]
    }

    private let layout: PostgreSQLLayout
    private var sides: [Side] = []

    /// - Parameter rows: the new and changed objects of the save.
    init(_ rows: [SavedRow], _ layout: PostgreSQLLayout) {
        self.layout = layout
        var places: [String: Int] = [:]
        for row in rows {
            guard let object = row.object else { continue }
            for (property, source) in row.entity.table.members.enumerated() {
                guard case .link(let join, let isForward)? = source, object.changesMembers(property) else { continue }
                let link = layout.link(join)
                guard isForward || link.isInverseOrdered else { continue }
                let id = "\(isForward)\(link.name)"
                if places[id] == nil {
                    places[id] = sides.count
                    sides.append(Side(link: link, isForward: isForward))
                }
                sides[places[id] ?? 0].changes.append(Change(object: object, owner: row.key, property: property))
            }
        }
        // The forward sides first: they make the pairs that the others order.
        sides.sort { $0.isForward && !$1.isForward }
    }

    /// Adds the statements that read the pairs before the save.
    mutating func addReading(to batch: inout PostgreSQLBatch) throws {
        for index in sides.indices {
            let side = sides[index], owners = side.changes.filter { !$0.object.isInserted }.map(\.owner)
            guard !owners.isEmpty else { continue }
            var parameters = PostgreSQLParameters()
            let condition = try PostgreSQLView.numbers(owners, &parameters)
            let order = side.position.map { " ORDER BY \($0), \(side.far)" } ?? ""
            sides[index].reading = batch.count
            batch.add(
                PostgreSQLStatement(
                    "SELECT \(side.own), \(side.far), \(side.farEntity), \(side.position ?? "0::bigint") FROM \(side.link.quoted)"
                        + " WHERE \(side.own) \(condition)\(order)"), parameters)
        }
    }

    private func stored(_ side: Side, _ results: [PostgreSQLResult]) throws -> [UInt64: Stored] {
        guard let reading = side.reading else { return [:] }
        var stored: [UInt64: Stored] = [:]
        let result = results[reading]
        for line in 0..<result.count {
            guard let member = layout.key(try result.int64(line, 1), try result.int16(line, 2)) else { continue }
            let owner = UInt64(bitPattern: try result.int64(line, 0))
            stored[owner, default: Stored()].members.append(member)
            stored[owner, default: Stored()].positions[member] = try result.int64(line, 3)
        }
        if side.position == nil { for owner in stored.keys { stored[owner]?.members.sort { $0.rawValue < $1.rawValue } } }
        return stored
    }

    /// Adds the statements that write pairs and positions.
    /// - Parameters:
    ///   - results: of the reading batch.
    ///   - note: called with each owner whose members change, the relationship, and the members that come or go.
    func addWriting(
        to batch: inout PostgreSQLBatch, _ results: [PostgreSQLResult], _ note: (ObjectKey, Int, [ObjectKey]) -> Void
    ) throws {
        for side in sides {
            let stored = try stored(side, results)
            var removed = PairList(layout), added = PairList(layout), moved = PairList(layout)
            for change in side.changes {
                let old = stored[change.owner.row] ?? Stored()
                let members = try change.object.members(change.property, over: old.members)
                guard members != old.members else { continue }
                let kept = Set(members), known = Set(old.members)
                let gone = old.members.filter { !kept.contains($0) }
                note(change.owner, change.property, side.isForward ? gone + members.filter { !known.contains($0) } : [])
                let positions = side.position == nil ? [:] : Self.positions(members, old)
                if side.isForward {
                    for member in gone { removed.add(change.owner, member, 0) }
                    for member in members where !known.contains(member) { added.add(change.owner, member, positions[member] ?? 0) }
                }
                for member in members where positions[member] != nil && (known.contains(member) || !side.isForward) {
                    moved.add(change.owner, member, positions[member] ?? 0)
                }
            }
            try add(side, removed: removed, added: added, moved: moved, to: &batch)
        }
    }

    /// The positions of the members that are new or move.
    private static func positions(_ members: [ObjectKey], _ old: Stored) -> [ObjectKey: Int64] {
        var changed: [ObjectKey: Int64] = [:]
        for (index, position) in LinkOrder.changes(members.map { old.positions[$0] }) { changed[members[index]] = position }
        return changed
    }

    private func add(_ side: Side, removed: PairList, added: PairList, moved: PairList, to batch: inout PostgreSQLBatch) throws {
        let link = side.link, table = link.quoted
        if !removed.isEmpty {
            batch.add(
                PostgreSQLStatement("DELETE FROM \(table) l USING \(PairList.source) WHERE l.\(side.own) = u.owner AND l.\(side.far) = u.member"),
                try removed.parameters())
        }
        if !added.isEmpty {
            if link.isExclusive {
                batch.add(
                    PostgreSQLStatement("DELETE FROM \(table) l USING \(PairList.source) WHERE l.\(side.far) = u.member AND l.\(side.own) <> u.owner"),
                    try added.parameters())
            }
            batch.add(PostgreSQLStatement(insertion(side)), try added.parameters())
        }
        if let position = side.position, !moved.isEmpty {
            batch.add(
                PostgreSQLStatement(
                    "UPDATE \(table) l SET \(position) = u.position FROM \(PairList.source)"
                        + " WHERE l.\(side.own) = u.owner AND l.\(side.far) = u.member"), try moved.parameters())
        }
    }

    /// A pair that another save has made meanwhile stays. The other side gets it at its end.
    private func insertion(_ side: Side) -> String {
        let link = side.link
        var names = [side.own, side.ownEntity, side.far, side.farEntity], values = ["u.owner", "u.owner_e", "u.member", "u.member_e"]
        if link.isOrdered {
            names.append(LinkTable.position)
            values.append("u.position")
        }
        if link.isInverseOrdered {
            names.append(LinkTable.inversePosition)
            values.append(
                "coalesce((SELECT max(\(LinkTable.inversePosition)) FROM \(link.quoted) WHERE \(LinkTable.destination) = u.member), 0)"
                    + " + \(LinkOrder.distance)")
        }
        return "INSERT INTO \(link.quoted) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", "))"
            + " FROM \(PairList.source) ON CONFLICT DO NOTHING"
    }
}

/// Pairs of an owner and a member, as parameters.
private struct PairList {
    private let layout: PostgreSQLLayout
    private var owners = PostgreSQLArray(of: .int8), ownerEntities = PostgreSQLArray(of: .int2)
    private var members = PostgreSQLArray(of: .int8), memberEntities = PostgreSQLArray(of: .int2)
    private var positions = PostgreSQLArray(of: .int8)

    init(_ layout: PostgreSQLLayout) { self.layout = layout }

    static let source = "unnest($1, $2, $3, $4, $5) AS u(owner, owner_e, member, member_e, position)"

    var isEmpty: Bool { owners.count == 0 }

    mutating func add(_ owner: ObjectKey, _ member: ObjectKey, _ position: Int64) {
        owners.addInt64(Int64(owner.row))
        ownerEntities.addInt16(layout.entity(of: owner)?.number ?? 0)
        members.addInt64(Int64(member.row))
        memberEntities.addInt16(layout.entity(of: member)?.number ?? 0)
        positions.addInt64(position)
    }

    func parameters() throws -> PostgreSQLParameters {
        var parameters = PostgreSQLParameters()
        for array in [owners, ownerEntities, members, memberEntities, positions] { try parameters.add(array) }
        return parameters
    }
}

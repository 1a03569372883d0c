import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Reads the members of one to-many relationship.
struct MemberReader {
    private let layout: PostgreSQLLayout
    private let runtime: EntityRuntime
    private let property: Int
    private let read: (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult

    init(_ view: PostgreSQLView, _ runtime: EntityRuntime, _ property: Int) {
        self.init(view.layout, runtime, property, view.read)
    }

    init(
        _ layout: PostgreSQLLayout, _ runtime: EntityRuntime, _ property: Int,
        _ read: @escaping (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult
    ) {
        (self.layout, self.runtime, self.property, self.read) = (layout, runtime, property, read)
    }

    /// A statement's parts: of the rows that have both ends of the relationship.
    private struct Source {
        let table: String
        /// The columns of the owner, of the member, and of the member's entity.
        let owner: String
        let member: String
        let entity: String
        let order: String?
        /// Conditions beside the owner's.
        let condition: String
    }

    private func sources() throws -> [Source] {
        let table = try layout.schema.table(of: runtime, slotBase: layout.slotBase)
        switch table.members[property] {
        case .inverse(let tables):
            let inverse = runtime.inverseName(property) ?? ""
            let found = tables.compactMap { layout.entity($0.table) }.compactMap { entity in
                entity.field(named: inverse).map { (entity: entity, column: $0.column) }
            }
            // Entities of a family share the column, unless they declare it differently.
            return Dictionary(grouping: found) { $0.column }.values.map { group in
                let family = layout.families[group[0].entity.family]
                return Source(
                    table: family.quoted, owner: family.columns[group[0].column].quoted, member: FamilyTable.number, entity: FamilyTable.entity,
                    order: nil, condition: " AND " + FamilyTable.isOne(of: group.map(\.entity.number)))
            }
        case .link(let join, let isForward):
            let link = layout.link(join)
            return [
                isForward
                    ? Source(
                        table: link.quoted, owner: LinkTable.source, member: LinkTable.destination, entity: LinkTable.destinationEntity,
                        order: link.isOrdered ? LinkTable.position : nil, condition: "")
                    : Source(
                        table: link.quoted, owner: LinkTable.destination, member: LinkTable.source, entity: LinkTable.sourceEntity,
                        order: link.isInverseOrdered ? LinkTable.inversePosition : nil, condition: "")
            ]
        case nil: return []
        }
    }

    /// The members of each owner, in the relationship's order; without one by entity and number.
    func members(ofEach keys: [ObjectKey]) throws -> [[ObjectKey]] {
        guard !keys.isEmpty else { return [] }
        var members: [UInt64: [ObjectKey]] = [:], isSorted = false
        for source in try sources() {
            var parameters = PostgreSQLParameters()
            let condition = try PostgreSQLView.numbers(keys, &parameters)
            let order = source.order.map { " ORDER BY \($0), \(source.member)" } ?? ""
            isSorted = source.order != nil
            let result = try read(
                PostgreSQLStatement(
                    "SELECT \(source.owner), \(source.member), \(source.entity) FROM \(source.table) WHERE \(source.owner) \(condition)"
                        + "\(source.condition) AND \(layout.isCurrent)\(order)"), parameters)
            for line in 0..<result.count {
                guard let member = layout.key(try result.int64(line, 1), try result.int16(line, 2)) else { continue }
                members[UInt64(bitPattern: try result.int64(line, 0)), default: []].append(member)
            }
        }
        return keys.map { key in
            let found = members[key.row] ?? []
            return isSorted ? found : found.sorted { $0.rawValue < $1.rawValue }
        }
    }

    /// The number of each owner's members.
    func counts(ofEach keys: [ObjectKey]) throws -> [Int] {
        var counts: [UInt64: Int] = [:]
        for source in try sources() where !keys.isEmpty {
            var parameters = PostgreSQLParameters()
            let condition = try PostgreSQLView.numbers(keys, &parameters)
            let result = try read(
                PostgreSQLStatement(
                    "SELECT \(source.owner), count(*) FROM \(source.table) WHERE \(source.owner) \(condition)\(source.condition)"
                        + " AND \(layout.isCurrent) GROUP BY \(source.owner)"), parameters)
            for line in 0..<result.count {
                counts[UInt64(bitPattern: try result.int64(line, 0)), default: 0] += Int(try result.int64(line, 1))
            }
        }
        return keys.map { counts[$0.row] ?? 0 }
    }

    func count(of key: ObjectKey) throws -> Int { try sources().reduce(0) { try $0 + count($1, key, nil) } }

    func has(_ member: ObjectKey, of key: ObjectKey) throws -> Bool {
        try sources().contains { try count($0, key, member) > 0 }
    }

    private func count(_ source: Source, _ key: ObjectKey, _ member: ObjectKey?) throws -> Int {
        var parameters = PostgreSQLParameters()
        parameters.addInt64(Int64(key.row))
        var text = "SELECT count(*) FROM \(source.table) WHERE \(source.owner) = $1\(source.condition) AND \(layout.isCurrent)"
        if let member {
            guard let entity = layout.entity(of: member) else { return 0 }
            parameters.addInt64(Int64(member.row))
            text += " AND \(source.member) = $2 AND \(source.entity) = \(entity.number)"
        }
        return Int(try read(PostgreSQLStatement(text), parameters).int64(0, 0))
    }
}

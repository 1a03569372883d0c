import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Computes the derived attributes that a transaction affects, once it has written its rows.
///
/// (1) A row is locked before its values are computed, and so are the rows to which its to-one relationships lead. So of two transactions that affect
///     the same row, the later one sees what the earlier has done.
/// (2) Values are computed from what the transaction sees, its own rows included, in rounds, until nothing changes any more.
struct DerivedSave {
    /// The most rows of a round's statement.
    private static let rowsMax = 1_000

    /// What a row has got.
    struct Written {
        let entity: BoundEntity
        /// The version before the transaction; nil for a row that it wrote itself.
        let from: UInt32?
        let to: UInt32
        /// By place.
        fileprivate(set) var values: [Int: ManagedValue]

        /// The names of the attributes.
        var names: Set<String> { Set(values.keys.map { entity.table.runtime.properties[entity.fields[$0].property].name }) }
    }

    private struct Way: Hashable {
        let steps: [OutsideDerivations.Step]
        let table: TableID
    }

    private let derivations: OutsideDerivations
    private let layout: PostgreSQLLayout
    private let connection: PostgreSQLConnection
    /// Reads within the transaction.
    private let view: PostgreSQLView
    private let builder = RowBuilder()
    private var pending: Set<RowReference> = []
    private var ways: [Way: [RowReference]] = [:]
    /// The rows that the transaction has written, whose versions are new already.
    private var own: Set<ObjectKey> = []
    private(set) var written: [ObjectKey: Written] = [:]
    private var leavesOut = false

    /// nil where the model has no derived attributes.
    init?(_ layout: PostgreSQLLayout, _ connection: PostgreSQLConnection, _ view: PostgreSQLView) {
        guard let derivations = OutsideDerivations(layout.schema) else { return nil }
        (self.derivations, self.layout, self.connection, self.view) = (derivations, layout, connection, view)
    }

    /// Whether something has to be computed.
    var isDue: Bool { !pending.isEmpty || !ways.isEmpty }

    // MARK: What the transaction writes

    /// Adds the values that a row derives from itself. Those from other rows follow.
    func complete(_ row: SavedRow) throws {
        let table = row.entity.table
        guard derivations.derives(table.id) else { return }
        var values = [ManagedValue](repeating: .unset, count: table.runtime.properties.count)
        for (place, value) in row.values { values[row.entity.fields[place].property] = value }
        let completed = try derivations.completing(values, of: row.base, in: table)
        let derived = Set(derivations.properties(of: table))
        for (place, field) in row.entity.fields.enumerated() where derived.contains(field.property) {
            try row.set(place, completed[field.property])
        }
    }

    /// Notes a row that the transaction writes.
    mutating func note(_ row: SavedRow) throws {
        own.insert(row.key)
        try row.build(with: builder, layout)
        let body = builder.unsafeBody(), reference = layout.reference(row.key)
        guard let start = body.baseAddress else { return }
        let new = UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: row.version)
        take(derivations.affected(reference, from: row.base, to: new, isNew: row.base == nil && row.version == 1), of: reference)
    }

    /// Notes a row that the transaction deletes.
    mutating func note(deleted row: UnsafeRowView) {
        take(derivations.affected(row.reference, from: row, to: nil, isNew: false), of: row.reference)
    }

    /// Notes rows that a statement changes whose new values nobody has read.
    mutating func note(changed keys: [ObjectKey]) {
        own.formUnion(keys)
        pending.formUnion(keys.map(layout.reference))
        for reference in keys.map(layout.reference) { take(derivations.affected(reference, from: nil, to: nil, isNew: false), of: reference) }
    }

    /// Notes the members that come to an owner or leave it.
    mutating func note(_ members: [ObjectKey], of owner: ObjectKey, _ property: Int) {
        guard let table = layout.entity(of: owner)?.table, case .link(let link, let isForward)? = table.members[property] else { return }
        let owner = layout.reference(owner)
        for member in members.map(layout.reference) {
            pending.formUnion(
                derivations.affected(byPairOf: link.id, from: isForward ? owner : member, to: isForward ? member : owner))
        }
    }

    /// Computes all rows that have derived attributes. A number that does not fit becomes null.
    mutating func runWhole() throws {
        leavesOut = true
        for entity in layout.entities where derivations.derives(entity.table.id) {
            var rows: [RowReference] = []
            let statement = PostgreSQLStatement(
                "SELECT \(FamilyTable.number) FROM \(layout.families[entity.family].quoted) WHERE \(FamilyTable.entity) = \(entity.number)")
            try connection.stream(statement) { line in
                if let key = layout.key(try line.int64(0, 0), entity.number) { rows.append(layout.reference(key)) }
            }
            pending.formUnion(rows)
        }
        try run()
    }

    /// Notes the pairs that go with rows which are deleted.
    mutating func notePairs(of keys: [ObjectKey]) throws {
        for (slot, keys) in Dictionary(grouping: keys, by: \.slot) {
            guard let key = keys.first, let entity = layout.entity(of: key), entity.table.runtime.slot == slot else { continue }
            for (property, source) in entity.table.members.enumerated() {
                guard case .link? = source else { continue }
                let members = try view.members(ofEach: keys, runtime: entity.table.runtime, property: property)
                for (key, members) in zip(keys, members) { note(members, of: key, property) }
            }
        }
    }

    private mutating func take(_ affected: OutsideDerivations.Affected, of reference: RowReference) {
        pending.formUnion(affected.rows)
        for steps in affected.ways { ways[Way(steps: steps, table: reference.table), default: []].append(reference) }
    }

    // MARK: Rounds

    /// Computes and writes.
    mutating func run() throws {
        while true {
            for (way, rows) in ways { pending.formUnion(try way.steps.reduce(rows) { try referring($0, $1) }) }
            ways = [:]
            let round = pending.filter { derivations.derives($0.table) }.sorted { $0.rawValue < $1.rawValue }
            pending = []
            guard !round.isEmpty else { return }
            for start in stride(from: 0, to: round.count, by: Self.rowsMax) {
                try compute(round[start..<min(start + Self.rowsMax, round.count)].map(layout.key))
            }
        }
    }

    private mutating func compute(_ keys: [ObjectKey]) throws {
        let view = view.apart(), rows = try view.lockedRows(keys, "NO KEY UPDATE"), source = DerivedSource(layout, view)
        var values: [[ManagedValue]] = []
        repeat {
            values = []
            for row in rows {
                do { values.append(try derivations.values(of: row, from: source, leavesOut: leavesOut)) } catch {
                    // What is not read yet may be why.
                    guard source.lacks else { throw error }
                }
            }
        } while try source.read()
        var changed: [SavedRow] = []
        for (row, values) in zip(rows, values) {
            guard let entity = layout.entity(row.reference.table) else { continue }
            let saved = try SavedRow(entity, layout.key(row.reference), over: row, values, slotBase: layout.slotBase)
            guard !saved.values.isEmpty else { continue }
            saved.version = own.contains(saved.key) ? row.version : RowVersion.after(row.version)
            changed.append(saved)
            let former = written[saved.key]
            let merged = (former?.values ?? [:]).merging(saved.values.map { ($0.place, $0.value) }) { $1 }
            let from = former == nil ? own.contains(saved.key) ? nil : row.version : former?.from
            written[saved.key] = Written(entity: entity, from: from, to: saved.version, values: merged)
        }
        var batch = PostgreSQLBatch()
        try RowGroups.add(changes: changed, layout, to: &batch, connection)
        try connection.execute(batch)
        for row in changed { try note(row) }
    }

    /// Gives a row of the transaction what was computed for it, so that its copy has it.
    /// - Parameter others: loses the row.
    func give(to row: SavedRow, _ others: inout [ObjectKey: Written]) throws {
        guard let given = others.removeValue(forKey: row.key) else { return }
        for (place, value) in given.values { try row.set(place, value) }
        row.version = given.to
    }

    /// The rows that refer to rows of one table.
    private func referring(_ rows: [RowReference], _ step: OutsideDerivations.Step) throws -> [RowReference] {
        guard !rows.isEmpty else { return [] }
        var parameters = PostgreSQLParameters(), found: [RowReference] = []
        let condition = try PostgreSQLView.numbers(rows.map(layout.key), &parameters)
        func read(_ table: String, _ column: String, _ number: String, _ entity: String, _ rest: String) throws {
            let answer = try connection.execute(
                PostgreSQLStatement("SELECT \(number), \(entity) FROM \(table) WHERE \(column) \(condition)\(rest)"), parameters)
            for line in 0..<answer.count {
                if let key = layout.key(try answer.int64(line, 0), try answer.int16(line, 1)) { found.append(layout.reference(key)) }
            }
        }
        switch step {
        case .references(let references):
            for reference in references {
                guard let entity = layout.entity(reference.table), let field = entity.field(reference.property) else { continue }
                let family = layout.families[entity.family]
                try read(
                    family.quoted, family.columns[field.column].quoted, FamilyTable.number, FamilyTable.entity,
                    " AND \(FamilyTable.entity) = \(entity.number)")
            }
        case .pairs(let table, let isForward):
            guard let link = layout.link(table) else { return [] }
            try read(
                link.quoted, isForward ? LinkTable.source : LinkTable.destination, isForward ? LinkTable.destination : LinkTable.source,
                isForward ? LinkTable.destinationEntity : LinkTable.sourceEntity, "")
        }
        return found
    }
}

/// What the rows of one round are derived from. What is asked for and not read yet is noted, and read together.
private final class DerivedSource: DerivationSource {
    private struct Members: Hashable {
        let owner: RowReference
        let property: Int
    }

    private let layout: PostgreSQLLayout
    private let view: PostgreSQLView
    private var rows: [RowReference: UnsafeRowView?] = [:], lackingRows: Set<RowReference> = []
    private var summed: [RowReference: UnsafeRowView?] = [:], lackingSummed: Set<RowReference> = []
    private var counts: [Members: Int] = [:], lackingCounts: Set<Members> = []
    private var lists: [Members: [RowReference]] = [:], lackingLists: Set<Members> = []

    init(_ layout: PostgreSQLLayout, _ view: PostgreSQLView) { (self.layout, self.view) = (layout, view) }

    var lacks: Bool { !(lackingRows.isEmpty && lackingSummed.isEmpty && lackingCounts.isEmpty && lackingLists.isEmpty) }

    func row(_ reference: RowReference) -> UnsafeRowView? {
        if let known = rows[reference] { return known }
        lackingRows.insert(reference)
        return nil
    }

    func member(_ reference: RowReference) -> UnsafeRowView? {
        if let known = summed[reference] { return known }
        lackingSummed.insert(reference)
        return nil
    }

    func count(of owner: RowReference, _ relationship: Int) -> Int {
        let members = Members(owner: owner, property: relationship)
        if let known = counts[members] { return known }
        lackingCounts.insert(members)
        return 0
    }

    func members(of owner: RowReference, _ relationship: Int) -> [RowReference] {
        let members = Members(owner: owner, property: relationship)
        if let known = lists[members] { return known }
        lackingLists.insert(members)
        return []
    }

    /// Reads what was asked for.
    /// - Returns: false if nothing was.
    func read() throws -> Bool {
        guard lacks else { return false }
        for reference in lackingRows { rows[reference] = .some(nil) }
        for row in try view.lockedRows(lackingRows.map(layout.key), "SHARE") { rows[row.reference] = row }
        for reference in lackingSummed { summed[reference] = .some(nil) }
        try view.rows(lackingSummed.map(layout.key)) { _, row in if let row { summed[row.reference] = row } }
        try readEach(lackingCounts) { reader, owners, members in
            for (members, count) in zip(members, try reader.counts(ofEach: owners)) { counts[members] = count }
        }
        try readEach(lackingLists) { reader, owners, members in
            for (members, keys) in zip(members, try reader.members(ofEach: owners)) { lists[members] = keys.map(layout.reference) }
        }
        (lackingRows, lackingSummed, lackingCounts, lackingLists) = ([], [], [], [])
        return true
    }

    private func readEach(_ lacking: Set<Members>, _ body: (MemberReader, [ObjectKey], [Members]) throws -> Void) throws {
        struct Relationship: Hashable {
            let table: TableID
            let property: Int
        }
        for (relationship, members) in Dictionary(grouping: lacking, by: { Relationship(table: $0.owner.table, property: $0.property) }) {
            guard let entity = layout.entity(relationship.table) else { continue }
            try body(MemberReader(view, entity.table.runtime, relationship.property), members.map { layout.key($0.owner) }, members)
        }
    }
}

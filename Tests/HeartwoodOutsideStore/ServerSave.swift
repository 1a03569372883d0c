import Foundation
import Heartwood
import RecordLog

/// Writes one save in a transaction of a database. If it throws, nothing is committed.
///
/// The order matters: numbers first, since rows refer to each other; then rows with their versions, members, deletions, and uniqueness last.
struct ServerSave {
    private let batch: SaveBatch
    private let binding: ServerBinding
    /// The pairs before the save.
    private let links: [ServerLinks]
    /// The state in which the batch is written.
    private(set) var state: DatabaseState
    private(set) var hasWritten = false
    private var conflicts: [SavedObject] = []
    /// The objects that claim unique values: by constraint, each key with its objects.
    private var claims: [(constraint: Int, key: [UInt8], objects: [(object: SavedObject, row: ServerReference)])] = []
    private var claimed: [Int: [[UInt8]: Int]] = [:]
    private(set) var changes = ServerChanges()
    private let builder = RowBuilder()

    init(_ batch: SaveBatch, _ binding: ServerBinding, _ state: DatabaseState) {
        (self.batch, self.binding, self.state) = (batch, binding, state)
        links = state.links
    }

    private func objects(_ kind: SaveBatch.Kind) -> [SavedObject] { batch.objects(kind, binding.schema, slotBase: binding.slotBase) }

    mutating func run() throws {
        let inserted = objects(.inserted), updated = objects(.updated), deleted = objects(.deleted)
        for object in inserted where object.needsKey { try assign(object) }
        for object in inserted { try insert(object) }
        for object in updated { try update(object) }
        for object in deleted + objects(.checked) { _ = try current(object) }
        guard conflicts.isEmpty else { throw VersionConflicts(conflicts, known: nil) }
        for object in inserted + updated { try writeMembers(object, isForward: true) }
        for object in inserted + updated { try writeMembers(object, isForward: false) }
        for object in deleted { try delete(object) }
        try checkUniqueness()
    }

    private mutating func assign(_ object: SavedObject) throws {
        let table = try object.table()
        object.give(ObjectKey(slot: table.runtime.slot, row: state.tables[binding.table(of: table).index].newNumber()))
    }

    private func reference(_ object: SavedObject) throws -> ServerReference {
        guard let key = object.key, let reference = binding.reference(key) else { throw object.missing() }
        return reference
    }

    // MARK: Rows

    /// The object's row. Records a conflict if its version is not the one that the object read or saved last.
    private mutating func current(_ object: SavedObject) throws -> ServerRow? {
        let row = state.row(try reference(object))
        if object.readVersion != 0, row?.version != object.readVersion { conflicts.append(object) }
        return row
    }

    private mutating func insert(_ object: SavedObject) throws {
        let reference = try reference(object)
        guard state.row(reference) == nil else { throw object.present() }
        try write(object, reference, over: nil)
    }

    private mutating func update(_ object: SavedObject) throws {
        object.give(version: 0)
        let row = try current(object)
        guard conflicts.isEmpty else { return }
        guard row != nil || object.isRevived else {
            guard try hasValues(object) else { return }
            throw object.missing()
        }
        try write(object, try reference(object), over: row)
    }

    private func hasValues(_ object: SavedObject) throws -> Bool {
        try binding.table(of: object.table()).columns.indices.contains { property in
            if case .unset = try object.value(property, over: nil) { false } else { true }
        }
    }

    private mutating func write(_ object: SavedObject, _ reference: ServerReference, over old: ServerRow?) throws {
        let table = try object.table(), columns = binding.table(of: table).columns
        var values = old?.values ?? [], isChanged = old == nil, changed: Set<String> = []
        let missing = state.tables[reference.table].columns.count - values.count
        if missing > 0 { values += [ServerValue?](repeating: nil, count: missing) }
        let row = old.map { row in
            binding.build(row.values, of: table, with: builder)
            let body = builder.unsafeBody()
            return UnsafeRowView(
                body: body.baseAddress!, byteCount: body.count, reference: RowReference(table: table.id, row: reference.number), version: row.version)
        }
        for (property, column) in columns.enumerated() {
            guard let column else { continue }
            let value = try object.value(property, over: row)
            if case .unset = value { continue }
            let new = binding.stored(value)
            if let new, let before = values[column], new.isSame(as: before) { continue }
            if new == nil, values[column] == nil { continue }
            values[column] = new
            isChanged = true
            changed.insert(table.runtime.properties[property].name)
        }
        try claim(object, reference, values, over: old)
        guard isChanged else { return }
        let version = old.map { $0.version &+ 1 } ?? state.tables[reference.table].firstVersion(reference.number)
        state.put(reference, values, version: version)
        object.give(version: version)
        note(old == nil ? .insert : .update, reference, updated: changed)
    }

    private mutating func delete(_ object: SavedObject) throws {
        let reference = try reference(object)
        guard let row = state.row(reference) else { return }
        note(.delete, reference, kept: binding.kept(row, of: try object.table()))
        state.delete(reference)
    }

    // MARK: Members

    /// Writes the members of an object's relationships that have tables. The forward side decides which pairs exist; the other side has an order only.
    private mutating func writeMembers(_ object: SavedObject, isForward: Bool) throws {
        let table = try object.table()
        for (property, source) in table.members.enumerated() {
            guard case .link(let link, isForward)? = source, isForward || link.inverse != nil, object.changesMembers(property) else { continue }
            let owner = try reference(object), index = binding.link(link)
            let stored = (isForward ? state.links : links)[index].members(of: owner, isForward: isForward)
            let members = try object.members(property, over: stored.compactMap(binding.key)).compactMap(binding.reference)
            guard members != stored else { continue }
            if isForward {
                state.links[index].set(members, of: owner, isExclusive: link.isExclusive)
            } else {
                state.links[index].order(members, of: owner)
            }
            note(.update, owner, updated: [table.runtime.properties[property].name])
        }
    }

    // MARK: Uniqueness

    private mutating func claim(_ object: SavedObject, _ row: ServerReference, _ values: [ServerValue?], over old: ServerRow?) throws {
        for (index, constraint) in state.constraints.enumerated() {
            guard let key = constraint.key(of: values, in: row.table) else { continue }
            guard try old == nil || isClaimed(constraint, by: object, row.table) else { continue }
            if let known = claimed[index]?[key] {
                claims[known].objects.append((object, row))
            } else {
                claimed[index, default: [:]][key] = claims.count
                claims.append((index, key, [(object, row)]))
            }
        }
    }

    /// Whether the save may give the object other values of a constraint.
    private func isClaimed(_ constraint: ServerConstraint, by object: SavedObject, _ table: Int) throws -> Bool {
        let columns = binding.table(of: try object.table()).columns
        return try (constraint.columns[table] ?? []).contains { column in
            guard let property = columns.firstIndex(of: column) else { return false }
            if case .unset = try object.value(property, over: nil) { return false }
            return true
        }
    }

    private func checkUniqueness() throws {
        var violations: [(attributes: [String], holder: ObjectKey?, objects: [SavedObject])] = []
        for claim in claims {
            let own = Set(claim.objects.map(\.row)), constraint = state.constraints[claim.constraint]
            let holder = constraint.holders(of: claim.key).filter { !own.contains($0) }.min { ($0.table, $0.number) < ($1.table, $1.number) }
            guard holder != nil || claim.objects.count > 1 else { continue }
            violations.append((constraint.attributes, holder.flatMap(binding.key), claim.objects.map(\.object)))
        }
        guard violations.isEmpty else { throw ConstraintViolations(violations) }
    }

    // MARK: History

    private mutating func note(
        _ kind: ServerTransaction.Kind, _ row: ServerReference, updated: Set<String> = [], kept: [String: ServerValue] = [:]
    ) {
        hasWritten = true
        changes.note(kind, row, updated: updated, kept: kept)
    }
}

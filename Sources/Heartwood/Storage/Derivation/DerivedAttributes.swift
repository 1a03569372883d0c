import Foundation
import RecordLog

/// Recomputes the derived attributes of a transaction's rows, and of the rows that depend on them.
///
/// It runs last in a transaction: it reads the transaction's changes in watched tables, finds the dependent rows by the indexes of the base, and
/// recomputes these. The base's indexes suffice: if the path from a dependent row to a change is new, the first changed step on it is itself
/// a change, and the path up to it is old.
///
/// A count costs two index searches. A sum reads the members of each row whose members or their values have changed. Attributes derived from
/// derived ones are computed in further rounds, until nothing changes.
struct DerivedAttributes {
    /// A row whose derived attributes were rewritten, with its version before the transaction (nil for a new row) and its current one.
    struct Rewritten {
        let reference: RowReference
        let from: UInt32?
        let to: UInt32
    }

    private struct MemberChange {
        let owner: RowReference
        let relationship: Int
        let member: RowReference
        let isAdded: Bool

        static func precedes(_ a: MemberChange, _ b: MemberChange) -> Bool {
            (a.owner.rawValue, a.relationship) < (b.owner.rawValue, b.relationship)
        }
    }

    private let scope: DerivationScope
    private let watches: DerivationWatches
    private let builder = RowBuilder()
    /// Rows to compute; may contain duplicates.
    private var pending: [RowReference] = []
    /// Sorted by owner and relationship after collection.
    private var changes: [MemberChange] = []
    private var written: Set<RowReference> = []
    /// Whether a number that does not fit its attribute becomes null instead of failing the transaction.
    private let leavesOut: Bool
    /// Whether the round has changed values that are sources for rows that refer to the changed row.
    private var hasChangedSources = false

    private var transaction: Transaction { scope.transaction }
    private var base: Snapshot { scope.transaction.base }

    init(_ watches: DerivationWatches, _ scope: DerivationScope, leavingOutWhatDoesNotFit leavesOut: Bool = false) {
        self.watches = watches
        self.scope = scope
        self.leavesOut = leavesOut
    }

    /// - Parameter rows: new rows that `DerivationScope.completing` has not completed.
    /// - Returns: the rows that were rewritten.
    mutating func run(completing rows: [RowReference] = []) throws -> [Rewritten] {
        var pass = self
        pass.pending = rows
        for (table, id, watches) in watches.byTable {
            try transaction.forEachChange(in: id) { reference, isNew in
                let old = isNew ? nil : try pass.base.unsafeRow(reference)
                let new = try pass.transaction.unsafeRow(reference)
                guard old != nil || new != nil else { return }
                for watch in watches { try pass.note(watch, table, reference, old, new, isNew: isNew) }
            }
        }
        pass.changes.sort(by: MemberChange.precedes)
        // The base's indexes lack references that this transaction has made. The first round computes all rows with such references. Those with
        // derived sources are computed again while sources change.
        var first: [RowReference]?
        while !pass.pending.isEmpty {
            var round = pass.pending
            pass.pending = []
            pass.hasChangedSources = false
            round.sort { $0.rawValue < $1.rawValue }
            var last: RowReference?
            for reference in round where reference != last {
                last = reference
                try pass.compute(reference)
            }
            let due = first ?? round.filter(pass.derivesFromDerived)
            first = due
            if pass.hasChangedSources { pass.pending += due }
        }
        self = pass
        return try written.map { reference in
            Rewritten(
                reference: reference, from: try base.unsafeRow(reference)?.version, to: try transaction.unsafeRow(reference)?.version ?? 0)
        }
    }

    // MARK: Dependents of a change

    private mutating func mark(_ reference: RowReference) {
        // Members usually come in the order of their owners, so this removes most duplicates.
        if pending.last != reference { pending.append(reference) }
    }

    private mutating func note(
        _ watch: DerivationWatch, _ table: EntityTable?, _ reference: RowReference, _ old: UnsafeRowView?, _ new: UnsafeRowView?,
        isNew: Bool = false
    ) throws {
        func isChanged() -> Bool {
            guard let table, let old, let new else { return true }
            return watch.properties.contains { !table.isEqual($0, old, new) }
        }
        switch watch.way {
        case .own:
            // A new row may derive values from new rows that did not exist when it was completed. A restored row's members exist already.
            guard let table, let new else { return }
            let isDue = old == nil
                ? !isNew || watch.properties.contains { table.reference($0, in: new) != nil } : isChanged()
            if isDue { mark(reference) }
        case .member(let column, let relationship):
            guard let table else { return }
            let before = old.flatMap { table.reference(column, in: $0) }, after = new.flatMap { table.reference(column, in: $0) }
            if before == after {
                if let after, isChanged() { mark(after) }
                return
            }
            if let before { add(before, relationship, reference, isAdded: false) }
            if let after { add(after, relationship, reference, isAdded: true) }
        case .pair(let relationship, let isForward):
            guard (old == nil) != (new == nil), let pair = new ?? old, let (source, destination) = Self.ends(of: pair, scope.schema)
            else { return }
            let (owner, member) = isForward ? (source, destination) : (destination, source)
            add(owner, relationship, member, isAdded: new != nil)
        case .back(let steps):
            // No row referred to a new row number before.
            guard !isNew, isChanged() else { return }
            var found = [reference]
            for step in steps {
                var next: [RowReference] = []
                for row in found {
                    try base.forEachMember(of: row, in: step) { next.append($0); return true }
                }
                found = next
            }
            for row in found { mark(row) }
        }
    }

    /// Whether a row has an attribute that is derived from derived attributes of other rows.
    private func derivesFromDerived(_ reference: RowReference) -> Bool {
        scope.schema.table(reference.table)?.derivations?.contains { $0.isOverRows && $0.source is NSDerivedAttributeDescription } == true
    }

    private mutating func add(_ owner: RowReference, _ relationship: Int, _ member: RowReference, isAdded: Bool) {
        changes.append(MemberChange(owner: owner, relationship: relationship, member: member, isAdded: isAdded))
        mark(owner)
    }

    /// Returns the two ends of a link row.
    private static func ends(of pair: UnsafeRowView, _ schema: RecordLogSchema) -> (RowReference, RowReference)? {
        guard let link = schema.links.first(where: { $0.id == pair.reference.table }) else { return nil }
        return (
            pair.reference(link.layout.access[JoinTable.sourcePosition]), pair.reference(link.layout.access[JoinTable.destinationPosition])
        )
    }

    // MARK: Computing

    /// Computes all derived attributes of a row, and writes the row where one has changed.
    private mutating func compute(_ reference: RowReference) throws {
        guard let table = scope.schema.table(reference.table), let derivations = table.derivations,
            let row = try transaction.unsafeRow(reference)
        else { return }
        var values = [ManagedValue](repeating: .unset, count: table.runtime.properties.count)
        for derivation in derivations {
            do {
                switch derivation.form {
                case .now: continue
                case .count(let relationship):
                    values[derivation.property] = try derivation.stored(.integer(Int64(try count(of: reference, relationship.index, table))))
                case .sum(let relationship, let source):
                    values[derivation.property] = try derivation.stored(try sum(of: reference, relationship.index, source, table))
                default: values[derivation.property] = try scope.value(of: derivation, values, row, table)
                }
            } catch where leavesOut && CoreDataError.isCode(NSValidationNumberTooLargeError, error) {
                values[derivation.property] = .null
            }
        }
        try builder.begin(table, revising: row)
        for derivation in derivations {
            if let position = table.positions[derivation.property] {
                try values[derivation.property].encode(into: builder, at: position)
            }
        }
        let body = builder.unsafeBody()
        guard let start = body.baseAddress, row.byteCount != body.count || memcmp(row.body, start, body.count) != 0 else { return }
        let new = UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: 0)
        for watch in watches[reference.table] {
            try note(watch, table, reference, row, new)
            if case .back = watch.way, watch.properties.contains(where: { !table.isEqual($0, row, new) }) { hasChangedSources = true }
        }
        try transaction.put(reference, body: body, changing: builder.changed)
        written.insert(reference)
    }

    private func changes(of owner: RowReference, _ relationship: Int) -> ArraySlice<MemberChange> {
        func lowerBound(_ precedes: (MemberChange) -> Bool) -> Int {
            var low = 0, high = changes.count
            while low < high {
                let middle = (low + high) / 2
                if precedes(changes[middle]) { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let key = (owner.rawValue, relationship)
        return changes[lowerBound { ($0.owner.rawValue, $0.relationship) < key }..<lowerBound { ($0.owner.rawValue, $0.relationship) <= key }]
    }

    private func count(of owner: RowReference, _ relationship: Int, _ table: EntityTable) throws -> Int {
        guard let source = table.members[relationship] else { return 0 }
        let before = try base.memberCount(of: owner, in: source)
        return changes(of: owner, relationship).reduce(before) { $0 + ($1.isAdded ? 1 : -1) }
    }

    private func sum(
        of owner: RowReference, _ relationship: Int, _ source: Derivation.Source, _ table: EntityTable
    ) throws -> PredicateNumber? {
        var sum = DerivationScope.Sum()
        let changes = changes(of: owner, relationship)
        let removed = Set(changes.lazy.filter { !$0.isAdded }.map(\.member))
        if let members = table.members[relationship] {
            try base.forEachMember(of: owner, in: members) { member in
                if !removed.contains(member) { try sum.add(member, source, in: scope) }
                return true
            }
        }
        for change in changes where change.isAdded { try sum.add(change.member, source, in: scope) }
        return sum.total
    }
}

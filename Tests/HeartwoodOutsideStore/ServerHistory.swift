import Foundation
import Heartwood
import RecordLog

/// The changes of one transaction, each row once.
struct ServerChanges {
    private var places: [ServerReference: Int] = [:]
    private(set) var list: [ServerTransaction.Change] = []

    mutating func note(_ kind: ServerTransaction.Kind, _ row: ServerReference, updated: Set<String> = [], kept: [String: ServerValue] = [:]) {
        guard let place = places[row] else {
            places[row] = list.count
            list.append(.init(kind: kind, row: row, updated: updated, kept: kept))
            return
        }
        let known = list[place]
        // A row that is new stays so when its members are written.
        list[place] = .init(kind: kind == .delete ? .delete : known.kind, row: row, updated: known.updated.union(updated), kept: kept)
    }
}

extension ServerChanges {
    /// Notes the objects at the other ends of the relationships that the transaction changes.
    fileprivate mutating func noteOtherSides(from old: DatabaseState, to new: DatabaseState, _ binding: ServerBinding) {
        for change in list {
            guard let table = binding.entityTable(change.row) else { continue }
            let columns = binding.table(of: table).columns
            for (property, column) in columns.enumerated() {
                guard let column, let inverse = table.runtime.inverseName(property) else { continue }
                let ends = [old, new].map { state -> ServerValue? in
                    guard let values = state.row(change.row)?.values, column < values.count else { return nil }
                    return values[column]
                }
                guard ends[0] != ends[1] else { continue }
                for case .reference(let end)? in ends { update(end, [inverse], in: new) }
            }
        }
        for (index, pairs) in new.links.enumerated() where pairs.forward != old.links[index].forward {
            for owner in Set(pairs.forward.keys).union(old.links[index].forward.keys) {
                let members = [old.links[index], pairs].map { Set($0.members(of: owner, isForward: true)) }
                let changed = members[0].symmetricDifference(members[1])
                guard !changed.isEmpty else { continue }
                update(owner, binding.names(of: owner, link: index, isForward: true), in: new)
                for member in changed { update(member, binding.names(of: member, link: index, isForward: false), in: new) }
            }
        }
    }

    /// A row that the transaction deletes is in the history by that alone.
    private mutating func update(_ row: ServerReference, _ names: Set<String>, in state: DatabaseState) {
        if !names.isEmpty, state.row(row) != nil { note(.update, row, updated: names) }
    }
}

/// A transaction of a database's history.
struct ServerTransaction: Sendable {
    enum Kind: Sendable { case insert, update, delete }

    struct Change: Sendable {
        let kind: Kind
        let row: ServerReference
        /// The names of the properties that an update has set.
        let updated: Set<String>
        /// The values that a deletion keeps.
        let kept: [String: ServerValue]
    }

    let number: Int64
    let time: Double
    let origin: HistoryTexts
    let changes: [Change]
}

extension ServerBinding {
    /// The names of a row's relationships whose pairs are in a table of pairs.
    fileprivate func names(of row: ServerReference, link index: Int, isForward: Bool) -> Set<String> {
        guard let table = entityTable(row) else { return [] }
        return Set(table.members.enumerated().compactMap { property, source in
            guard case .link(let link, isForward)? = source, self.link(link) == index else { return nil }
            return table.runtime.properties[property].name
        })
    }

    /// The values that the history keeps of a deleted row.
    func kept(_ row: ServerRow, of table: EntityTable) -> [String: ServerValue] {
        var kept: [String: ServerValue] = [:]
        for (property, column) in self.table(of: table).columns.enumerated() {
            guard let column, table.runtime.isPreserved(property), let value = row.values[column] else { continue }
            kept[table.runtime.properties[property].name] = value
        }
        return kept
    }
}

extension DatabaseState {
    /// Adds a transaction to the history, if the database keeps one.
    /// - Parameter base: the state before the transaction.
    mutating func record(_ changes: ServerChanges, _ origin: TransactionOrigin, since base: DatabaseState, _ binding: ServerBinding) {
        guard keepsHistory, !changes.list.isEmpty else { return }
        var changes = changes
        changes.noteOtherSides(from: base, to: self, binding)
        transactionCount += 1
        let texts = HistoryTexts(
            author: origin.author, contextName: origin.contextName, processID: TransactionOrigin.processID, bundleID: TransactionOrigin.bundleID)
        transactions.append(ServerTransaction(
            number: transactionCount, time: Date().timeIntervalSinceReferenceDate, origin: texts,
            changes: changes.list.sorted { ($0.row.table, $0.row.number) < ($1.row.table, $1.row.number) }))
    }
}

/// The history of a database as of one commit. The numbers of its transactions rise, and are given once.
struct ServerHistory: StoreHistory {
    let source: HistorySource
    private let binding: ServerBinding
    private let state: DatabaseState

    init(_ store: ServerStore, _ binding: ServerBinding, _ state: DatabaseState) {
        (self.binding, self.state) = (binding, state)
        source = HistorySource(store, binding.schema, path: store.url?.absoluteString ?? "")
    }

    func newestPosition() throws -> NSPersistentHistoryToken.Position {
        .init(table: NSPersistentHistoryToken.Position.noTable, number: state.transactionCount, time: state.transactions.last?.time ?? 0)
    }

    func selection(_ times: HistorySelection.Times) throws -> HistorySelection { HistorySelection([1..<UInt64.max], times) }

    func number(of position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        guard position.table == NSPersistentHistoryToken.Position.noTable, position.number >= 0, position.number <= state.transactionCount else {
            throw expired("names a transaction that the database has not")
        }
        if let known = state.transactions.first(where: { $0.number == position.number }), known.time != position.time {
            throw expired("names a transaction of another history")
        }
        return UInt64(position.number)
    }

    func number(behind position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        let number = try number(of: position)
        let first = state.transactions.first?.number ?? state.transactionCount + 1
        guard number + 1 >= UInt64(first) else { throw expired("is older than the rest of the history") }
        return number + 1
    }

    func forEach(_ selection: HistorySelection, isWhole: Bool, _ body: (HistoryRecord) throws -> Bool) throws {
        for transaction in state.transactions where selection.holds(UInt64(transaction.number)) && selection.times.holds(for: transaction.time) {
            let changes = transaction.changes.enumerated().compactMap { change($1, ordinal: transaction.number << 32 | Int64($0 + 1)) }
            guard try body(HistoryRecord(transaction.number, transaction.time, transaction.origin, changes, source)) else { return }
        }
    }

    func check(_ record: HistoryRecord) throws -> Int { try record.check { _ in 0 } }

    /// - Returns: nil for a row of an entity that the model lacks.
    private func change(_ change: ServerTransaction.Change, ordinal: Int64) -> HistoryChange? {
        guard let table = binding.entityTable(change.row) else { return nil }
        let runtime = table.runtime
        var updated: Set<NSPropertyDescription> = []
        if change.kind == .update {
            for name in change.updated {
                // An element stands for its composite attribute.
                if let index = runtime.index(of: name) { updated.insert(runtime.entity.propertiesByIndex[runtime.declaredIndex(index)]) }
            }
        }
        var kept: [String: Any] = [:]
        for (name, value) in change.kept {
            guard let index = runtime.index(of: name) else { continue }
            kept[name] = AttributeCoding.object(
                value.managed(runtime.properties[index].kind), property: runtime.entity.propertiesByIndex[index], kind: runtime.properties[index].kind)
        }
        return HistoryChange(
            ordinal: ordinal, type: change.kind == .insert ? .insert : change.kind == .update ? .update : .delete,
            reference: RowReference(table: table.id, row: change.row.number), entity: runtime.entity, updatedProperties: updated,
            tombstone: kept.isEmpty ? nil : runtime.nested(kept))
    }
}

extension ServerValue {
    /// The value of an attribute as the stack has it.
    func managed(_ kind: PropertyKind) -> ManagedValue {
        switch self {
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .double(let number): kind == .date ? .date(number) : .double(number)
        case .text(let text): kind == .uri ? URL(string: text).map(ManagedValue.url) ?? .null : .text(text)
        case .bytes(let data): .data(data)
        case .uuid(let uuid): .uuid(uuid)
        case .decimal(let number): .decimal(NSDecimalNumber(decimal: number))
        case .reference: .null
        }
    }
}

extension ServerStore: HistoryStore {
    /// The value of the tracking option; nil if it is not set.
    private var historyOption: Bool? {
        options?[NSPersistentHistoryTrackingKey] is NSDictionary ? true : Self.flag(NSPersistentHistoryTrackingKey, in: options)
    }

    package var recordsHistory: Bool { historyOption ?? false }

    /// Whether a database keeps a history, once this client has opened it: one that the options refuse ends if it is empty.
    func keepsHistory(_ state: DatabaseState) -> Bool {
        guard !isReadOnly, let historyOption else { return state.keepsHistory }
        return historyOption || state.keepsHistory && !state.transactions.isEmpty
    }

    package func newestHistory() throws -> (any StoreHistory)? {
        try follow()
        return try knownHistory()
    }

    package func knownHistory() throws -> (any StoreHistory)? {
        let (binding, state) = try knownState()
        return state.keepsHistory ? ServerHistory(self, binding, state) : nil
    }

    package func deleteHistory(_ selection: HistorySelection, author: String?) throws {
        try write { state in
            let count = state.transactions.count
            state.transactions.removeAll { selection.holds(UInt64($0.number)) && selection.times.holds(for: $0.time) }
            return state.transactions.count < count
        }
    }
}

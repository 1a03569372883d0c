import Foundation
import RecordLog

/// What is to be done so that a store has the fetch indexes of its model: the model may have got others since the store was made,
/// which changes no version.
struct IndexChanges {
    struct Missing {
        let table: TableID
        let name: String
        let parts: [IndexPart]
        let extractorName: String?
    }

    /// To be removed: the model does not have them, or has others of their names.
    private(set) var stale: [IndexID] = []
    private(set) var missing: [Missing] = []

    var isEmpty: Bool { stale.isEmpty && missing.isEmpty }

    init(_ plans: IndexPlans, _ catalog: Catalog) {
        for (entity, plans) in plans.list {
            guard let table = catalog.table(named: entity.name ?? "") else { continue }
            let kept = plans.map { $0.found(in: catalog, table) }
            for known in catalog.indexes(on: table.id)
            where known.name.hasPrefix(RecordLogNames.index("")) && !kept.contains(where: { $0?.id == known.id }) {
                stale.append(known.id)
            }
            for (plan, found) in zip(plans, kept) where found == nil {
                // Relationships' and constraints' indexes come with the tables.
                guard plan.name.hasPrefix(RecordLogNames.index("")), let made = plan.definition(table.currentLayout) else { continue }
                missing.append(Missing(table: table.id, name: plan.name, parts: made.parts, extractorName: made.extractorName))
            }
        }
    }
}

extension NSPersistentStore {
    /// Why the store lacks fetch indexes that its model states. They are built in the background once the store is added, and fetches scan
    /// as long as they are not there. nil while they are being built, and when they are there; the next time that the store is added
    /// it is tried again. The engine's error, with path, offset and remedy, is under `NSUnderlyingErrorKey`.
    public final var indexingError: (any Error)? { rows?.indexBuildError }
}

extension RecordLogStore {
    /// Brings the store's fetch indexes to what the model states, on a thread of its own: each in a commit of its own, which a save
    /// waits for and a fetch does not. No row is written.
    ///
    /// Crash points: before a commit the index is not there, and the next opening builds it; after it, it is. Should one fail, the ones
    /// before it stand and fetches do without the rest.
    final func bringIndexesUpToDate(_ plans: IndexPlans, _ model: NSManagedObjectModel) {
        guard !isReadOnly, let log, !IndexChanges(plans, log.snapshot().catalog).isEmpty else { return }
        indexing.enter()
        DispatchQueue.global(qos: .utility).async { [weak self, indexing] in
            defer { indexing.leave() }
            do {
                let archive = try model.archivedBytes()
                while let self, try self.makeNextIndex(plans, archive, log) {}
            } catch {
                // Fetches scan where there is no index; the next opening tries again.
                self?.indexBuildError = RecordLogErrors.wrapIfOfEngine(error)
            }
        }
    }

    /// - Returns: whether there may be more to do.
    private func makeNextIndex(_ plans: IndexPlans, _ model: [UInt8], _ log: LogStore) throws -> Bool {
        let loaded = try loaded()
        let isDone = try log.write { transaction in
            try checkVersion(of: transaction.base, loaded)
            // Another process may have been faster.
            let changes = IndexChanges(plans, transaction.catalog)
            guard !changes.isEmpty else { return true }
            if changes.stale.isEmpty {
                let next = changes.missing[0]
                _ = try transaction.defineIndex(named: next.name, on: next.table, parts: next.parts, extractorName: next.extractorName)
            }
            for index in changes.stale { try transaction.dropIndex(index) }
            try transaction.setSystemValue(RecordLogSystemRow.model, model)
            commits.note(base: transaction.base.sequence, isFollowed: true)
            return false
        }
        adoptIndexes(log.snapshot().catalog)
        return !isDone
    }
}

import Foundation
import RecordLog

/// The indexes that a store must build or drop to match its model. The model may have changed them since the store was made: that needs no new
/// model version.
struct IndexChanges {
    struct Missing {
        let table: TableID
        let name: String
        let parts: [IndexPart]
        let extractorName: String?
    }

    /// Indexes that the model lacks, or defines differently under the same name.
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
                // The indexes of relationships and constraints are made with the tables.
                guard plan.name.hasPrefix(RecordLogNames.index("")), let made = plan.definition(table.currentLayout) else { continue }
                missing.append(Missing(table: table.id, name: plan.name, parts: made.parts, extractorName: made.extractorName))
            }
        }
    }
}

extension NSPersistentStore {
    /// The error that kept the store from building fetch indexes of its model. They are built in the background after the store is added, and
    /// fetches scan until then. nil during the build and after its success; adding the store again retries it. The engine's error, with path,
    /// offset and remedy, is under `NSUnderlyingErrorKey`.
    public final var indexingError: (any Error)? { rows?.indexBuildError }
}

extension RecordLogStore {
    /// Builds and drops fetch indexes until the store matches the model, on a background thread. Each index has its own commit, which blocks saves
    /// but not fetches. No row is written.
    ///
    /// Crash points: before a commit the index does not exist, and the next opening builds it; after the commit it exists. If one build fails, the
    /// indexes before it remain and fetches do without the rest.
    final func bringIndexesUpToDate(_ plans: IndexPlans, _ model: NSManagedObjectModel) {
        guard !isReadOnly, let log, !IndexChanges(plans, log.snapshot().catalog).isEmpty else { return }
        indexing.enter()
        DispatchQueue.global(qos: .utility).async { [weak self, indexing] in
            defer { indexing.leave() }
            do {
                let archive = try model.archivedBytes()
                while let self, try self.makeNextIndex(plans, archive, log) {}
            } catch {
                // Fetches scan where an index is missing; the next opening retries.
                self?.indexBuildError = RecordLogErrors.wrapIfOfEngine(error)
            }
        }
    }

    /// - Returns: whether more may be left to do.
    private func makeNextIndex(_ plans: IndexPlans, _ model: [UInt8], _ log: LogStore) throws -> Bool {
        let loaded = try loaded()
        let isDone = try log.write { transaction in
            try checkVersion(of: transaction.base, loaded)
            // Another process may have done it meanwhile.
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

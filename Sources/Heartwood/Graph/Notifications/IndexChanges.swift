import Foundation
import RecordLog

/// The indexes that a store must build, rename or drop to match its model. The model may have changed them since the store was made: that needs no
/// new model version.
struct IndexChanges {
    struct Missing {
        let table: TableID
        let name: String
        let parts: [IndexPart]
        let extractorName: String?
    }

    /// Indexes that the model lacks, or defines differently under the same name.
    private(set) var stale: [IndexID] = []
    /// The new names of indexes that the model has under another name.
    private(set) var renamed: [IndexID: String] = [:]
    private(set) var missing: [Missing] = []

    var isEmpty: Bool { stale.isEmpty && missing.isEmpty && renamed.isEmpty }

    init(_ plans: IndexPlans, _ catalog: Catalog) {
        for (entity, plans) in plans.list {
            guard let table = catalog.table(named: entity.name ?? "") else { continue }
            // The indexes of relationships and constraints are made with the tables.
            let plans = plans.filter(\.isOfFetches), known = catalog.indexes(on: table.id).filter { $0.name.hasPrefix(RecordLogNames.index("")) }
            let serving = IndexPlan.match(plans, known, table.currentLayout)
            for (plan, found) in zip(plans, serving) {
                if let found {
                    if found.name != plan.name { renamed[found.id] = plan.name }
                } else if let made = plan.definition(table.currentLayout) {
                    missing.append(Missing(table: table.id, name: plan.name, parts: made.parts, extractorName: made.extractorName))
                }
            }
            stale += known.filter { index in !serving.contains { $0?.id == index.id } }.map(\.id)
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
    /// Builds, renames and drops fetch indexes until the store matches the model, on a background thread. Each index has its own commit; saves wait
    /// for none of the builds, only for the commits. No row is written. The store's closing and the end of the process wait some seconds for it, so
    /// that programs that are short get their indexes too.
    ///
    /// Crash points: before a commit the index does not exist, and the next opening builds it; after the commit it exists. If one build fails, the
    /// indexes before it remain and fetches do without the rest.
    final func bringIndexesUpToDate(_ plans: IndexPlans, _ model: NSManagedObjectModel) {
        guard !isReadOnly, let loaded = try? loaded(), !IndexChanges(plans, loaded.log.snapshot().catalog).isEmpty else { return }
        indexing.enter()
        let log = loaded.log, building = IndexBuilding(plans: plans, model: model, loaded: loaded, commits: commits)
        log.beginIndexBuilds()
        DispatchQueue.global(qos: .utility).async { [weak self, indexing] in
            defer { indexing.leave() }
            log.noteIndexBuilder()
            do {
                let archive = try model.archivedBytes()
                while try building.makeNext(archive) { self?.adoptIndexes(log.snapshot().catalog) }
                log.endIndexBuilds()
            } catch {
                log.endIndexBuilds()
                // Fetches scan where an index is missing; the next opening retries.
                self?.indexBuildError = RecordLogErrors.wrapIfOfEngine(error)
            }
        }
    }
}

/// The building of a store's fetch indexes. It does not keep the store in memory.
private struct IndexBuilding: @unchecked Sendable {
    // Unchecked: a model does not change once a coordinator uses it.
    let plans: IndexPlans
    let model: NSManagedObjectModel
    let loaded: RecordLogStore.Loaded
    let commits: SeenCommits

    /// - Returns: whether something was done; more may be left.
    func makeNext(_ archive: [UInt8]) throws -> Bool {
        let log = loaded.log, changes = IndexChanges(plans, try log.refresh().catalog)
        guard !changes.isEmpty else { return false }
        guard changes.stale.isEmpty, changes.renamed.isEmpty, let next = changes.missing.first else {
            try log.write { try tidy($0, archive) }
            return true
        }
        let isBuilt = try log.buildIndex(
            named: next.name, on: next.table, parts: next.parts, extractorName: next.extractorName,
            isWanted: { transaction in
                try RecordLogStore.checkVersion(of: transaction.base, loaded)
                return IndexChanges(plans, transaction.catalog).missing.contains { $0.table == next.table && $0.name == next.name }
            }, completing: { try complete($0, archive) })
        // Another process may have built it meanwhile.
        return isBuilt || IndexChanges(plans, log.snapshot().catalog).missing.count < changes.missing.count
    }

    /// Drops and renames indexes, which takes no time.
    private func tidy(_ transaction: Transaction, _ archive: [UInt8]) throws {
        try RecordLogStore.checkVersion(of: transaction.base, loaded)
        let changes = IndexChanges(plans, transaction.catalog)
        for index in changes.stale { try transaction.dropIndex(index) }
        if !changes.renamed.isEmpty { try transaction.rename(indexes: changes.renamed) }
        try complete(transaction, archive)
    }

    private func complete(_ transaction: Transaction, _ archive: [UInt8]) throws {
        try transaction.setSystemValue(RecordLogSystemRow.model, archive)
        commits.note(base: transaction.base.sequence, isFollowed: true)
    }
}

import Foundation
import RecordLog

/// The last commit that two stores of one identity have in common, of which the first is older or of another line of commits: a copy that went on
/// by itself, what a restore has made of a backup, the store that a replica has followed.
///
/// Up to that commit a row number stands for the same object in both. Rows that were made later are of different objects.
struct CommonCommit {
    /// The state as of the commit, in one of the stores; later ones have no row of the first store besides.
    private let snapshot: Snapshot

    /// - Parameter origins: the lines that a backup knows, by identity, each with the line that it left.
    /// - Throws: 134070 if the commit is not known, or neither log has it any more; the errors of reading.
    init(of source: RecordLogStore, _ target: RecordLogStore, origins: [StoredUUID: Lineage]) throws {
        guard let past = source.log?.snapshot(), let now = target.log?.snapshot() else {
            throw CoreDataError.unsupported("A cherry-pick goes from a record log to a record log.")
        }
        // The log of one file is one line, whatever the lines that it has come through.
        guard source.url?.resolvingSymlinksInPath() != target.url?.resolvingSymlinksInPath() else {
            snapshot = past
            return
        }
        let before = try Self.ancestry(of: past, origins), after = try Self.ancestry(of: now, origins)
        let shared = before.compactMap { line in after.first { $0.id == line.id }.map { min($0.limit, line.limit) } }.first
        guard var shared else { throw Self.unknown(source, target) }
        if before[0].id == after[0].id {
            // A copy that goes on without a lineage of its own passes for the same line.
            guard let known = try Self.agreement(of: source, target, through: shared) else { throw Self.unknown(source, target) }
            shared = known
        }
        if shared >= past.sequence {
            snapshot = past
        } else if shared >= now.sequence {
            snapshot = now
        } else if let found = Self.state(of: target, shared) ?? Self.state(of: source, shared) {
            snapshot = found
        } else {
            throw Self.gone(shared, source, target)
        }
    }

    /// Whether both stores have the same object in a row, if they have one.
    func isShared(_ row: RowReference) -> Bool { row.row < snapshot.rowLimit(row.table) }

    /// The line of a snapshot and those that it comes from, nearest first, each with its last commit that the snapshot has.
    private static func ancestry(of snapshot: Snapshot, _ origins: [StoredUUID: Lineage]) throws -> [(id: StoredUUID, limit: UInt64)] {
        var lineage = try Lineage(of: snapshot), found = [(id: lineage.id, limit: snapshot.sequence)]
        // What a backup says is untrusted: a line may claim to come from itself.
        while let fork = lineage.fork, !found.contains(where: { $0.id == fork.parent }) {
            found.append((fork.parent, min(fork.sequence, found[found.count - 1].limit)))
            guard let next = origins[fork.parent] else { break }
            lineage = next
        }
        return found
    }

    /// The last commit, at or before another one, that has the same time in both logs; nil if no commit has. Commits keep their times in copies and
    /// compactions, but for the first one of a file. Where a log lacks the commits, they are taken for the same.
    private static func agreement(of source: RecordLogStore, _ target: RecordLogStore, through last: UInt64) throws -> UInt64? {
        var known: [UInt64: Int64]?
        for store in [source, target] {
            guard let url = store.url, let sequence = store.log?.snapshot().sequence else { return last }
            var options = StoredModel.options
            options.isReadOnly = true
            options.asOf = store === source ? .number(sequence) : nil
            let log = try LogStore.open(path: url.path, options: options)
            defer { try? log.close() }
            var times: [UInt64: Int64] = [:], oldest = UInt64.max, isSame = false
            try CommitLog(log).forEach { entry in
                oldest = min(oldest, entry.sequence)
                guard entry.sequence <= last else { return true }
                times[entry.sequence] = entry.timestamp
                // Nearly always the newest one agrees.
                isSame = known?[last] == entry.timestamp && entry.sequence == last
                return !isSame
            }
            if isSame { return last }
            times[oldest] = nil
            guard let first = known else {
                known = times
                continue
            }
            guard first[last] != nil, times[last] != nil else { return last }
            return first.keys.filter { first[$0] == times[$0] }.max()
        }
        return last
    }

    /// The state of a store as of a commit; nil if its log does not have the commit.
    private static func state(of store: RecordLogStore, _ sequence: UInt64) -> Snapshot? {
        guard let url = store.url else { return nil }
        var options = StoredModel.options
        options.isReadOnly = true
        options.asOf = .number(sequence)
        return try? LogStore.open(path: url.path, options: options).snapshot()
    }

    private static func unknown(_ source: RecordLogStore, _ target: RecordLogStore) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "\(name(source)) and \(name(target)) are of two lines of commits, and neither says where these parted. Take the objects from the "
                + "directory of a backup that has both lines.")
    }

    private static func gone(_ sequence: UInt64, _ source: RecordLogStore, _ target: RecordLogStore) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "\(name(source)) and \(name(target)) are of two lines of commits that have parted behind commit \(sequence), which neither log has "
                + "any more: an object that was made since cannot be told from another one. Take the objects as of commit \(sequence) or an "
                + "earlier one.")
    }

    private static func name(_ store: RecordLogStore) -> String { store.url?.path ?? "?" }
}

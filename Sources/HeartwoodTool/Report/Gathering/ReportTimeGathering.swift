import Foundation
import Heartwood
import RecordLog

/// Reads the newest commits of a log, or transactions of a history.
struct ReportTimeGathering {
    private static let pointsMax = 2000
    private static let changesMax = 40
    /// The newest commits that name objects, and how many each names.
    private static let namingMax = 100
    private static let objectsMax = 24
    /// The rows of a commit among which these objects are. Others are links of relationships, which have no object of their own.
    private static let firstMax = 1000
    /// The rows of a larger commit are not read.
    private static let commitBytesMax: UInt64 = 64 << 20
    /// The most bytes of commits that are read.
    private static let bytesMax: UInt64 = 256 << 20

    let titles: ReportTitles

    // MARK: Commits

    func commits(_ log: LogStore) throws -> ReportTimeline {
        let catalog = log.snapshot().catalog, text = CommitText(catalog)
        var filter = CommitLog.Filter()
        (filter.readBytesMax, filter.firstMax) = (Self.commitBytesMax, Self.firstMax)
        var timeline = ReportTimeline(noun: "commit", points: [], isCut: false), bytes: UInt64 = 0
        do {
            try CommitLog(log).forEach(filter) { commit in
                guard timeline.points.count < Self.pointsMax, bytes < Self.bytesMax else {
                    timeline.isCut = true
                    return false
                }
                bytes += commit.byteCount
                timeline.points.append(point(commit, text, catalog, namesObjects: timeline.points.count < Self.namingMax))
                return true
            }
        } catch let error as StoreError {
            timeline.failure = error.description
        }
        return timeline
    }

    private func point(_ commit: CommitLog.Entry, _ text: CommitText, _ catalog: Catalog, namesObjects: Bool) -> ReportTimeline.Point {
        ReportTimeline.Point(
            number: commit.sequence, time: ReportTitles.milliseconds(commit.timestamp), bytes: commit.byteCount, author: commit.author,
            rows: commit.changes.isEmpty && commit.rows > 0 ? commit.rows : nil,
            changes: text.tables(commit).prefix(Self.changesMax).map {
                ReportTimeline.Change(name: $0.name, written: $0.changes.written, deleted: $0.changes.deleted)
            },
            objects: namesObjects ? Array(commit.first.lazy.compactMap { object($0, catalog) }.prefix(Self.objectsMax)) : nil)
    }

    private func object(_ row: CommitLog.ChangedRow, _ catalog: Catalog) -> ReportTimeline.Object? {
        guard let table = catalog.table(row.reference.table)?.name, let id = titles.id(table, row: row.reference.row) else { return nil }
        return ReportTimeline.Object(id: id, kind: row.isDeletion ? "deleted" : "written")
    }

    // MARK: Histories

    /// The newest transactions.
    /// - Parameters:
    ///   - numbers: of the oldest and the newest one.
    func transactions(_ open: OpenStore, numbers: ClosedRange<Int64>) throws -> ReportTimeline {
        let first = max(numbers.lowerBound, numbers.upperBound.subtractingReportingOverflow(Int64(Self.pointsMax - 1)).partialValue)
        var timeline = ReportTimeline(noun: "transaction", points: [], isCut: first > numbers.lowerBound)
        do {
            try open.coordinator.persistentStores.first?.forEachTransaction(from: UInt64(clamping: first)) { transaction in
                timeline.points.append(try point(transaction))
                return timeline.points.count < Self.pointsMax
            }
        } catch {
            timeline.failure = ToolError.message(of: error)
        }
        timeline.points.reverse()
        for index in timeline.points.indices.dropFirst(Self.namingMax) { timeline.points[index].objects = nil }
        return timeline
    }

    private func point(_ transaction: NSPersistentHistoryTransaction) throws -> ReportTimeline.Point {
        var changes: [String: ReportTimeline.Change] = [:], objects: [ReportTimeline.Object] = []
        if transaction.hasChanges {
            try transaction.forEachChange { change in
                let name = change.changedObjectID.entity.title
                changes[name, default: ReportTimeline.Change(name: name, written: 0, deleted: 0)].written += change.changeType == .delete ? 0 : 1
                changes[name]?.deleted += change.changeType == .delete ? 1 : 0
                if objects.count < Self.objectsMax { objects.append(object(change)) }
                return true
            }
        }
        return ReportTimeline.Point(
            number: UInt64(clamping: transaction.transactionNumber), time: ReportTitles.milliseconds(transaction.timestamp), bytes: nil,
            author: transaction.author ?? transaction.contextName, rows: nil, changes: changes.values.sorted { $0.name < $1.name },
            objects: objects)
    }

    private func object(_ change: NSPersistentHistoryChange) -> ReportTimeline.Object {
        let kind = switch change.changeType {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
        return ReportTimeline.Object(
            id: titles.id(change.changedObjectID), kind: kind, properties: (change.updatedProperties ?? []).map(\.name).sorted())
    }
}

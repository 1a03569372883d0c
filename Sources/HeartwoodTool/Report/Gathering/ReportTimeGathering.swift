import Foundation
import Heartwood
import RecordLog

/// Reads the newest commits of a log, or transactions of a history.
enum ReportTimeGathering {
    private static let pointsMax = 2000
    private static let changesMax = 40

    static func commits(_ path: String) throws -> ReportTimeline {
        var options = StoredModel.options
        options.isReadOnly = true
        options.acceptsDamage = true
        let log = try LogStore.open(path: path, options: options)
        defer { try? log.close() }
        let text = CommitText(log.snapshot().catalog)
        var timeline = ReportTimeline(noun: "commit", points: [], isCut: false)
        do {
            try CommitLog(log).forEach { commit in
                guard timeline.points.count < pointsMax else {
                    timeline.isCut = true
                    return false
                }
                timeline.points.append(ReportTimeline.Point(
                    number: commit.sequence, time: ReportTitles.milliseconds(commit.timestamp), bytes: commit.byteCount, author: commit.author,
                    changes: text.tables(commit).prefix(changesMax).map {
                        ReportTimeline.Change(name: $0.name, written: $0.changes.written, deleted: $0.changes.deleted)
                    }))
                return true
            }
        } catch let error as StoreError {
            timeline.failure = error.description
        }
        return timeline
    }

    /// The newest transactions.
    /// - Parameters:
    ///   - numbers: of the oldest and the newest one.
    static func transactions(_ path: String, _ modelFile: String?, numbers: ClosedRange<Int64>) throws -> ReportTimeline {
        let open = try OpenStore(path: path, modelFile: modelFile, isReadOnly: true)
        let first = max(numbers.lowerBound, numbers.upperBound.subtractingReportingOverflow(Int64(pointsMax - 1)).partialValue)
        var timeline = ReportTimeline(noun: "transaction", points: [], isCut: first > numbers.lowerBound)
        do {
            try open.coordinator.persistentStores.first?.forEachTransaction(from: UInt64(clamping: first)) { transaction in
                timeline.points.append(try point(transaction))
                return timeline.points.count < pointsMax
            }
        } catch {
            timeline.failure = ToolError.message(of: error)
        }
        timeline.points.reverse()
        try open.close()
        return timeline
    }

    private static func point(_ transaction: NSPersistentHistoryTransaction) throws -> ReportTimeline.Point {
        var changes: [String: ReportTimeline.Change] = [:]
        if transaction.hasChanges {
            try transaction.forEachChange { change in
                let name = change.changedObjectID.entity.title
                changes[name, default: ReportTimeline.Change(name: name, written: 0, deleted: 0)].written += change.changeType == .delete ? 0 : 1
                changes[name]?.deleted += change.changeType == .delete ? 1 : 0
                return true
            }
        }
        return ReportTimeline.Point(
            number: UInt64(clamping: transaction.transactionNumber), time: ReportTitles.milliseconds(transaction.timestamp), bytes: nil,
            author: transaction.author ?? transaction.contextName, changes: changes.values.sorted { $0.name < $1.name })
    }
}

import Foundation
import Heartwood

/// The rows that contexts have of a program's store, and the last answer's.
struct SnapshotCache {
    private var rows: [NSManagedObjectID: SnapshotRow] = [:]
    /// The number of contexts that have an object.
    private var holders: [NSManagedObjectID: Int] = [:]
    private var lastAnswer: Set<NSManagedObjectID> = []
    private var lastVersion: UInt64 = 0

    subscript(id: NSManagedObjectID) -> SnapshotRow? { rows[id] }

    /// Keeps a row. It has a new version if a value differs from the row that is known.
    mutating func add(_ id: NSManagedObjectID, _ row: SnapshotRow) {
        if let known = rows[id], known.hasValues(of: row) { return }
        lastVersion += 1
        var row = row
        row.version = lastVersion
        rows[id] = row
    }

    mutating func takeAnswer(_ list: [(id: NSManagedObjectID, row: SnapshotRow)]) {
        for (id, row) in list { add(id, row) }
        let answer = Set(list.map(\.id))
        for id in lastAnswer.subtracting(answer) where holders[id] == nil { rows[id] = nil }
        lastAnswer = answer
    }

    mutating func remove(_ ids: [NSManagedObjectID]) { for id in ids { rows[id] = nil } }

    mutating func hold(_ ids: [NSManagedObjectID]) { for id in ids { holders[id, default: 0] += 1 } }

    mutating func letGo(_ ids: [NSManagedObjectID]) {
        for id in ids {
            let rest = (holders[id] ?? 1) - 1
            holders[id] = rest > 0 ? rest : nil
            if rest <= 0, !lastAnswer.contains(id) { rows[id] = nil }
        }
    }

    /// The number of rows, for tests.
    var count: Int { rows.count }
}

import Foundation
import Testing

@testable import Heartwood

/// The history in real stores and in made ones, as other readers list it.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteHistoryTests {
    private static func lines(_ file: URL) throws -> [[String: Any]] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
    }

    private static func fetch(
        _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    /// Compares a store's history with lines of JSON.
    private static func check(_ name: String, _ context: NSManagedObjectContext, _ lines: [[String: Any]]) throws {
        let found = try fetch(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
        #expect(found.map(\.transactionNumber) == lines.map { ($0["transaction"] as? NSNumber)?.int64Value ?? 0 }, "\(name)")
        for (transaction, line) in zip(found, lines) {
            #expect(transaction.author == line["author"] as? String && transaction.contextName == line["contextName"] as? String, "\(name)")
            #expect(transaction.processID == line["processID"] as? String ?? "", "\(name)")
            if let bundle = line["bundleID"] as? String { #expect(transaction.bundleID == bundle) }
            let time = ExpectedObjects.seconds(line["date"] as? String ?? "") ?? .nan
            #expect(abs(transaction.timestamp.timeIntervalSinceReferenceDate - time) < 2e-6, "\(name) \(transaction)")
            let changes = transaction.changes ?? [], expected = line["changes"] as? [[String: Any]] ?? []
            #expect(changes.map(\.changeID) == expected.map { ($0["change"] as? NSNumber)?.int64Value ?? 0 }, "\(name) \(transaction)")
            for (change, wanted) in zip(changes, expected) { check(name, change, wanted) }
        }
    }

    private static func check(_ name: String, _ change: NSPersistentHistoryChange, _ wanted: [String: Any]) {
        let id = change.changedObjectID
        #expect("\(id.entity.name ?? "")/\(id.key.row)" == wanted["object"] as? String, "\(name) \(change)")
        #expect("\(change.changeType)" == wanted["type"] as? String, "\(name) \(change)")
        if let updated = wanted["updated"] as? [String] {
            let toManys = Set(id.entity.relationshipsByName.values.filter(\.isToMany).map(\.name))
            let found = Set((change.updatedProperties ?? []).map(\.name)).subtracting(toManys)
            #expect(found == Set(updated.map { String($0.prefix { $0 != "." }) }.filter { !toManys.contains($0) }), "\(name) \(change)")
        }
        if let tombstone = wanted["tombstone"] as? [String: Any] {
            let found = Set((change.tombstone ?? [:]).keys.compactMap { $0 as? String })
            #expect(found == Set(tombstone.filter { !($0.value is NSNull) }.keys), "\(name) \(change)")
            for case let (key as String, value) in change.tombstone ?? [:] {
                let kind = id.entity.propertyIndexByName[key].map { PropertyKind(id.entity.propertiesByIndex[$0]) } ?? .undefined
                #expect(ExpectedObjects.isEqual(value, tombstone[key], kind), "\(name) \(change) \(key): \(value)")
            }
        }
    }

    @Test(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)"))
    func `The history of real stores is the expected one`() throws {
        var count = 0
        for folder in try FileManager.default.contentsOfDirectory(atPath: SharedStores.folder.path).sorted() {
            let place = SharedStores.folder.appendingPathComponent(folder), history = place.appendingPathComponent("EXPECTED-history.jsonl")
            guard FileManager.default.fileExists(atPath: history.path) else { continue }
            let lines = try SharedStores.expected(folder), file = place.appendingPathComponent(try #require(lines[0]["store"] as? String))
            let (context, _) = try ExpectedObjects(name: folder, file: file, lines: lines).open()
            try context.performAndWait { try Self.check(folder, context, try Self.lines(history)) }
            count += 1
        }
        #expect(count == 3)
    }

    @Test
    func `The history of made stores is the expected one, also with texts in the transactions`() throws {
        for name in ["history", "history-old"] {
            try CoreDataStoreFiles.withMadeStore(name) { made in
                let (context, _) = try ExpectedObjects(made).open()
                try context.performAndWait { try Self.check(name, context, try #require(try made.transactions())) }
            }
        }
    }

    @Test
    func `Tokens, dates and fetch requests select from the history; it cannot be deleted`() throws {
        try CoreDataStoreFiles.withMadeStore("history") { made in
            let file = made.store, (context, store) = try ExpectedObjects(made).open()
            try context.performAndWait {
                let all = try Self.fetch(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
                try #require(all.count == 4)
                for (index, transaction) in all.enumerated() {
                    let later = try Self.fetch(.fetchHistory(after: transaction), context)
                    #expect(later.map(\.transactionNumber) == all.dropFirst(index + 1).map(\.transactionNumber))
                    let afterDate = try Self.fetch(.fetchHistory(after: transaction.timestamp), context)
                    #expect(afterDate == later)
                }
                let coordinator = try #require(context.persistentStoreCoordinator)
                let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
                #expect(token == all[3].token && token.ordered(all[0].token) == .orderedDescending)
                #expect(try Self.fetch(.fetchHistory(after: token), context).isEmpty)
                try CoreDataStoreFiles.execute(
                    "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES (9, 16002, 1, 800000000); "
                        + "INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
                        + "VALUES (99, 16001, 1, 0, 3, 1, 9)",
                    at: file)
                let new = try Self.fetch(.fetchHistory(after: token), context)
                #expect(new.map(\.transactionNumber) == [9] && new[0].changes?.map(\.changeID) == [99])

                let request = NSPersistentHistoryChange.fetchRequest
                let type = NSPersistentHistoryChangeType.insert.rawValue
                request?.predicate = NSPredicate(format: "changeType == %d AND transaction.author == 'import'", type)
                let changes = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: try #require(request))
                changes.resultType = .changesOnly
                let result = (try context.execute(changes) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryChange]
                #expect(result?.map(\.changeID) == [1, 2, 3, 4, 5])

                func code(_ request: NSPersistentHistoryChangeRequest) -> Int? {
                    (#expect(throws: (any Error).self) { try context.execute(request) } as NSError?)?.code
                }
                #expect(code(.deleteHistory(before: all[1])) == CocoaError.Code.fileWriteNoPermission.rawValue)
                let future = NSPersistentHistoryToken([store.identifier: .init(table: 0, number: 500, time: 0)])
                #expect(code(.fetchHistory(after: future)) == NSPersistentHistoryTokenExpiredError)
                try CoreDataStoreFiles.execute("DELETE FROM ATRANSACTION WHERE Z_PK < 4", at: file)
                #expect(code(.fetchHistory(after: all[0])) == NSPersistentHistoryTokenExpiredError)
                #expect(try Self.fetch(.fetchHistory(after: all[2]), context).map(\.transactionNumber) == [4, 9])
            }
        }
    }

    @Test
    func `A store without history says so`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context()
            let error = #expect(throws: (any Error).self) {
                try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
            } as NSError?
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        }
    }
}

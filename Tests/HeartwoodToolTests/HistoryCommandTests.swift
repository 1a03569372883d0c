import Foundation
import Synchronization
import Testing

@testable import Heartwood

/// A store with a history to which this process and the tool write.
@Suite struct HistoryCommandTests {
    private func open(_ path: String) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: ToolProcess.model)))
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (coordinator, context)
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test
    func `A transaction of many changes shows the first of them, unless all are wanted`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let (coordinator, context) = try open(path)
        for number in 0..<25 {
            NSEntityDescription.insertNewObject(forEntityName: "Package", into: context).setValue("p\(number)", forKey: "name")
        }
        try context.save()
        try close(coordinator)
        let shown = try ToolProcess.run("history", path).output.split(separator: "\n")
        #expect(shown.count == 22 && shown[21] == "  … 5 more" && shown[1...20].allSatisfy { $0.hasPrefix("  +x-coredata://") }, "\(shown)")
        let all = try ToolProcess.run("history", path, "--full").output.split(separator: "\n")
        #expect(all.count == 26 && all.prefix(21).elementsEqual(shown.prefix(21)))
        let line = try ToolProcess.run("history", path, "--json").output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect((object["changes"] as? [Any])?.count == 25)
    }

    @Test
    func `The saves of two processes are listed`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let (coordinator, context) = try open(path)
        context.transactionAuthor = "test"
        context.name = "main"
        let package = NSEntityDescription.insertNewObject(forEntityName: "Package", into: context)
        package.setValue("lantern", forKey: "name")
        try context.save()
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        // The other process does not know the option.
        let lines = #"{"name": "lantern", "version": "2"}"# + "\n" + #"{"name": "other", "version": "1"}"#
        let imported = try ToolProcess.run("import", path, "--entity", "Package", "--key", "name", "-", input: lines)
        #expect(imported.status == 0, "\(imported.error)")
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let found = (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
        let changes = try #require(found).flatMap { $0.changes ?? [] }
        #expect(changes.contains { $0.changeType == .update && $0.changedObjectID == package.objectID
            && $0.updatedProperties?.contains { $0.name == "version" } == true })
        #expect(changes.contains { $0.changeType == .insert } && found?.first?.processID == "heartwood")
        for transaction in found ?? [] { context.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
        #expect(package.value(forKey: "version") as? String == "2")

        let uri = package.objectID.uriRepresentation().absoluteString
        let listed = try ToolProcess.run("history", path)
        #expect(listed.status == 0, "\(listed.error)")
        #expect(listed.output.contains("+\(uri)") && listed.output.contains("*\(uri)  version"), "\(listed.output)")
        #expect(listed.output.contains("author test") && listed.output.contains("context main"))
        let mine = try ToolProcess.run("history", path, "--author", "test", "--json").output.split(separator: "\n")
        let first = try #require(mine.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
        #expect(mine.count == 1 && object["number"] as? Int == 1 && (object["changes"] as? [[String: Any]])?.first?["object"] as? String == uri)
        #expect(try !ToolProcess.run("history", path, "--after", "1").output.contains("author test"))
        #expect(try ToolProcess.run("history", path, "--limit", "1", "--json").output.split(separator: "\n").count == 1)
        #expect(try ToolProcess.run("history", path, "--after", "2099-01-01T00:00:00Z").output.isEmpty)
        #expect(try ToolProcess.run("history", path, "--after", "soon").status == 2)
        let all = try ToolProcess.run("history", path, "--json").output
        #expect(try ToolProcess.run("history", path, "--format", "jsonl").output == all)
        for (words, count) in [([], all.split(separator: "\n").count), (["--after", "2099-01-01"], 0)] {
            let array = try ToolProcess.runWords(["history", path, "--format", "json"] + words).output
            #expect((try JSONSerialization.jsonObject(with: Data(array.utf8)) as? [Any])?.count == count, "\(array)")
        }
        #expect(try ToolProcess.run("history", path, "--delete-before", "2", "--limit", "1").status == 2)
        try close(coordinator)

        // Commands over the whole file keep the history.
        for arguments in [["verify", path], ["inspect", path], ["compact", path], ["verify", path]] {
            let (process, output, error) = try ToolProcess.start(arguments)
            process.waitUntilExit()
            let text = try String(contentsOf: error, encoding: .utf8)
            #expect(process.terminationStatus == 0, "\(text)")
            ToolProcess.cleanUp(output.path, error.path)
        }
        #expect(try ToolProcess.run("history", path).output == listed.output)
        let salvaged = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(salvaged) }
        #expect(try ToolProcess.run("salvage", path, "-o", salvaged).status == 0)
        #expect(try ToolProcess.run("history", salvaged).output == listed.output)
        if FormatReader.python != nil {
            let check = try FormatReader.run([path, "--check"])
            #expect(check.status == 0, "\(check.output)\(check.error)")
            #expect(try FormatReader.run([path, "--entity", "Package"]).output == ToolProcess.run("export", path, "--entity", "Package").output)
            #expect(try FormatReader.run([path, "--history"]).output == Self.plain(listed.output))
        }
        #expect(try ToolProcess.run("history", path, "--delete-before", "2").status == 0)
        let left = try ToolProcess.run("history", path).output
        #expect(!left.contains("author test") && left.contains("*\(uri)"))
    }

    /// The lines of changes in the second reader's form: transactions by their numbers only.
    private static func plain(_ listed: String) -> String {
        listed.split(separator: "\n").map { line in
            line.hasPrefix(" ") ? String(line) : String(line.prefix { $0 != " " })
        }.joined(separator: "\n") + "\n"
    }

    @Test
    func `Times select transactions of a store that was written under a wrong clock, and deleting before a time leaves those dated later`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let (coordinator, context) = try open(path)
        let store = try #require(coordinator.persistentStores.first as? RecordLogStore)
        // Days of 2026, and one of 2027.
        let days = ["2026-03-01", "2026-03-02", "2027-03-01", "2026-03-03", "2026-03-04"]
        let hand = HandClock()
        store.history.setClock { hand.now }
        for (index, day) in days.enumerated() {
            hand.now = try Date("\(day)T12:00:00Z", strategy: Date.ISO8601FormatStyle()).timeIntervalSinceReferenceDate
            let package = NSEntityDescription.insertNewObject(forEntityName: "Package", into: context)
            package.setValue("package \(index)", forKey: "name")
            try context.save()
        }
        try close(coordinator)
        func numbers(_ arguments: String...) throws -> [Int] {
            let listed = try ToolProcess.runWords(["history", path, "--json"] + arguments)
            #expect(listed.status == 0, "\(listed.error)")
            return try listed.output.split(separator: "\n").map { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return try #require(object?["number"] as? Int)
            }
        }
        #expect(try numbers() == [1, 2, 3, 4, 5] && numbers("--after", "2") == [3, 4, 5])
        #expect(try numbers("--after", "2026-03-02T12:00:00Z") == [3, 4, 5] && numbers("--after", "2026-03-03T12:00:00Z") == [3, 5])
        #expect(try numbers("--after", "2026-06-01T00:00:00Z") == [3] && numbers("--after", "2027-03-01T12:00:00Z") == [])
        #expect(try numbers("--after", "2026-03-01T12:00:00Z", "--limit", "2") == [2, 3])
        if FormatReader.python != nil {
            let check = try FormatReader.run([path, "--check"])
            #expect(check.status == 0, "\(check.output)\(check.error)")
        }
        #expect(try ToolProcess.run("history", path, "--delete-before", "2026-03-04T00:00:00Z").status == 0)
        #expect(try numbers() == [3, 5])
        #expect(try ToolProcess.run("verify", path).status == 0 && ToolProcess.run("compact", path).status == 0)
        #expect(try numbers("--after", "2026-03-03T00:00:00Z") == [3, 5] && numbers("--after", "2026-03-04T12:00:00Z") == [3])
        if FormatReader.python != nil { #expect(try FormatReader.run([path, "--check"]).status == 0) }
        #expect(try ToolProcess.run("history", path, "--delete-before", "4").status == 0)
        #expect(try numbers() == [5])
    }

    /// A clock that the test sets.
    private final class HandClock: Sendable {
        private let time = Mutex(0.0)

        var now: Double {
            get { time.withLock { $0 } }
            set { time.withLock { $0 = newValue } }
        }
    }

    @Test
    func `A store without a history lists none`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        try ToolProcess.importExcerpt(to: path)
        let listed = try ToolProcess.run("history", path)
        #expect(listed.status != 0 && listed.error.contains("tracks no history"), "\(listed.error)")
    }
}

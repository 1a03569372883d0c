import Foundation
import Heartwood
import RecordLog
import Testing

/// The reading commands over a store of twelve saves, the fifth of which is damaged.
@Suite struct DamagedStoreCommandTests {
    private func damaged() throws -> String {
        let path = ToolProcess.temporaryPath(), url = URL(fileURLWithPath: path)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: ToolProcess.model)))
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for number in 1...12 {
            NSEntityDescription.insertNewObject(forEntityName: "Package", into: context).setValue("package \(number)", forKey: "name")
            try context.save()
        }
        // The state after a crash of the process: a closed store has a checkpoint, and opening it does not read its log.
        var bytes = try Data(contentsOf: url)
        var options = StoreOptions()
        options.isReadOnly = true
        let log = try LogStore.open(path: path, options: options)
        let commit = try #require(try log.commit(log.snapshot().sequence - 7))
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        bytes[Int(commit.offset) + 40] ^= 1
        try bytes.write(to: url)
        return path
    }

    @Test
    func `Each reading command refuses a damaged store, and warns if it may read the undamaged parts`() throws {
        let store = try damaged()
        defer { ToolProcess.cleanUp(store) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let commands: [(words: [String], shows: String)] = [
            (["export", store, "--entity", "Package"], "package 4"), (["query", store, "Package"], "package 4"), (["history", store], "p4"),
            (["model", store], "Package"), (["inspect", store, "--commit", "3"], "rows"),
            (["inspect", store, "--object", "x-coredata://any/Package/p1"], ""),
        ]
        for (words, shows) in commands {
            let refused = try ToolProcess.runWords(words)
            #expect(refused.status == 1 && refused.output.isEmpty, "\(words): \(refused.output)")
            #expect(refused.error.contains("damaged") && refused.error.contains("commits 7 to 13"), "\(words): \(refused.error)")
            guard !shows.isEmpty else { continue }
            let taken = try ToolProcess.runWords(words + ["--accept-damage"])
            #expect(taken.status == 0 && taken.output.contains(shows) && !taken.output.contains("package 5"), "\(words): \(taken.output)")
            #expect(taken.error.contains("warning") && taken.error.contains("commit 6 is damaged"), "\(words): \(taken.error)")
        }
        let report = try ToolProcess.run("inspect", store)
        #expect(report.status == 1 && report.output.contains("corrupt") && report.error.contains("warning"))
        #expect(try ToolProcess.run("inspect", store, "--accept-damage").status == 0)
        #expect(try ToolProcess.run("verify", store).output.contains("commit 6 is damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    }

    @Test
    func `Names of a store that hold line ends and terminal commands stay within their line`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let entity = NSEntityDescription(), attribute = NSAttributeDescription()
        let forged = "x\n2  2026-01-01T00:00:00.000Z  root\u{1B}[2J\u{9B}31m\u{202E}\r"
        entity.name = "E" + forged
        attribute.name = "a" + forged
        attribute.attributeType = .stringAttributeType
        entity.properties = [attribute]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "author" + forged
        context.name = "context" + forged
        let object = NSManagedObject(entity: entity, insertInto: context)
        try context.save()
        object.setValue("v", forKey: attribute.name)
        try context.save()
        let sequence = 3
        try coordinator.remove(store)
        let lines = ["history": 4, "verify": 1, "model": 3]
        for words in [
            ["history", path], ["inspect", path], ["inspect", path, "--commit", "\(sequence)"], ["verify", path], ["model", path],
            ["query", path, "none"],
            ["salvage", path, "-o", path + ".new"], ["query", path, entity.name ?? "", "--select", "none"], ["query", path, entity.name ?? ""],
        ] {
            let result = try ToolProcess.runWords(words)
            for text in [result.output, result.error] {
                let isClean = text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control && $0 != "\u{202E}" }
                #expect(isClean && !text.split(separator: "\n").contains { $0.hasPrefix("2  2026-01-01") }, "\(words): \(text)")
                if let count = lines[words[0]], !text.isEmpty { #expect(text.split(separator: "\n").count == count, "\(words): \(text)") }
            }
        }
        ToolProcess.cleanUp(path + ".new")
    }

    /// Readers write nothing, so each of them replays what a killed load has left, without a word.
    @Test
    func `Reading commands say that a load was interrupted, and which command ends the slow openings`() throws {
        let store = ToolProcess.temporaryPath(), killed = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, killed) }
        let made = try ToolProcess.run("import", store, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", ToolProcess.excerpt)
        #expect(made.status == 0)
        let log = try LogStore.open(path: store, options: StoredModel.options)
        for _ in 0..<20 { try log.write { try $0.setSystemValue(1000, [UInt8](repeating: 1, count: 1 << 20)) } }
        // The file as a kill leaves it.
        try FileManager.default.copyItem(atPath: store, toPath: killed)
        try log.close()
        let read = ["query", killed, "Package", "--count"]
        for _ in 0..<2 {
            let slow = try ToolProcess.runWords(read)
            #expect(slow.status == 0 && slow.output == "6\n" && slow.error.contains("compact --checkpoint-only"), "\(slow.output)\(slow.error)")
        }
        let wrong = try ToolProcess.run("compact", killed, "--checkpoint-only", "--to", store + ".new")
        #expect(wrong.status == 2 && wrong.error.contains("--checkpoint-only"), "\(wrong.error)")
        let size = try Data(contentsOf: URL(fileURLWithPath: killed)).count
        let done = try ToolProcess.run("compact", killed, "--checkpoint-only")
        #expect(done.status == 0 && done.output.contains("checkpoint of commit"), "\(done.output)\(done.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: killed)).count >= size)
        let quick = try ToolProcess.runWords(read)
        #expect(quick.output == "6\n" && quick.error == "", "\(quick.error)")
    }
}

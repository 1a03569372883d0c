import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// The file of a store with a text index, through the tool and the second reader.
@Suite struct TextIndexFileTests {
    private static func model() -> NSManagedObjectModel {
        let note = NSEntityDescription(), text = NSAttributeDescription(), number = NSAttributeDescription()
        note.name = "Note"
        (text.name, text.attributeType, text.isOptional) = ("text", .stringAttributeType, true)
        (number.name, number.attributeType, number.isOptional) = ("number", .integer64AttributeType, true)
        note.properties = [text, number]
        note.indexes = [NSFetchIndexDescription(name: "byText", elements: [NSFetchIndexElementDescription(property: text, collationType: .text)])]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    private static let words = ["oak", "ash", "elm", "äpfel", "birch", "日本", "pine", "a", ""]

    /// Saves notes in several commits, changes and deletes some, and compacts where that is asked for.
    private static func fill(_ url: URL, isCompacted: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        var notes: [NSManagedObject] = []
        for number in 0..<600 {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue(number, forKey: "number")
            note.setValue(number % 50 == 0 ? nil : "\(words[number % 9]) \(words[number % 7]) \(number % 13)", forKey: "text")
            notes.append(note)
            if number % 200 == 199 { try context.save() }
        }
        for number in stride(from: 0, to: 600, by: 5) { notes[number].setValue("maple \(number % 4)", forKey: "text") }
        for number in stride(from: 1, to: 600, by: 60) { context.delete(notes[number]) }
        try context.save()
        if isCompacted { try store.compactRecordLog() }
        try coordinator.remove(store)
    }

    @Test(arguments: [false, true])
    func `A file with a text index is sound to the tool and to the second reader, and is searched by words`(isCompacted: Bool) throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        try Self.fill(URL(fileURLWithPath: path), isCompacted: isCompacted)
        let verified = try ToolProcess.runWords(["verify", path])
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        let found = try ToolProcess.runWords(["query", path, "Note", "--search", "maple 3", "--count"])
        #expect(found.output.trimmingCharacters(in: .whitespacesAndNewlines) == "30", "\(found.output)\(found.error)")
        guard FormatReader.python != nil else { return }
        let check = try FormatReader.run([path, "--check"])
        #expect(check.status == 0, "\(check.output)\(check.error)")
    }

    /// Finds no term in any text.
    private struct NoTerms: IndexTermExtractor {
        var columnNames: [String]? { ["text"] }

        func appendTerms(of row: UnsafeRowView, layout: RowLayout, to terms: TermList) {}
    }

    @Test
    func `Verify tells that a text index has the terms of a note that is not there`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        try Self.fill(URL(fileURLWithPath: path), isCompacted: false)
        var options = StoreOptions()
        options.makeExtractor = { $0.hasPrefix("terms:") ? NoTerms() : StoredModel.options.makeExtractor?($0) }
        let log = try LogStore.open(path: path, options: options)
        let table = try #require(log.snapshot().catalog.table(named: "Note"))
        try log.write { _ = try $0.delete(RowReference(table: table.id, row: 2)) }
        try log.checkpoint()
        try log.close()
        let verified = try ToolProcess.runWords(["verify", path])
        #expect(verified.status == 1 && verified.output.contains("byText is wrong about"), "\(verified.output)\(verified.error)")
    }

    @Test
    func `Imported notes are searched: by words, a word's start, an attribute, a predicate, in an order, with a limit, in every format`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.remove(try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path)))
        let lines = Self.words.enumerated().map { "{\"number\": \($0.offset), \"text\": \"\($0.element) tree \($0.offset % 2 == 0 ? "Oak" : "ashes")\"}" }
        let imported = try ToolProcess.runWords(["import", path, "--entity", "Note", "--key", "number", "-"], input: lines.joined(separator: "\n") + "\n")
        #expect(imported.status == 0, "\(imported.output)\(imported.error)")
        func numbers(_ words: String...) throws -> [Int] {
            let found = try ToolProcess.runWords(["query", path, "Note", "--select", "number", "--format", "csv"] + words)
            #expect(found.status == 0, "\(words): \(found.error)")
            return found.output.split(separator: "\n").dropFirst().compactMap { Int($0) }
        }
        #expect(try numbers("--search", "OAK").sorted() == [0, 2, 4, 6, 8])
        // Both words are the one: it has "oak" twice.
        #expect(try numbers("--search", "oak").first == 0)
        #expect(try numbers("--search", "ash").sorted() == [1] && numbers("--search", "ash*").sorted() == [1, 3, 5, 7])
        #expect(try numbers("--search", "tree ash*", "--sort", "number:desc", "--limit", "2") == [7, 5])
        #expect(try numbers("--search", "tree", "--where", "number > 6", "--sort", "number") == [7, 8])
        #expect(try numbers("--search", "日本") == [5] && numbers("--search", "apfel", "--search-in", "text") == [3])
        #expect(try numbers("--search", "nowhere") == [] && numbers("--search", "tree", "--offset", "7", "--sort", "number") == [7, 8])
        let explained = try ToolProcess.runWords(["query", path, "Note", "--search", "birch", "--explain"])
        #expect(explained.status == 0 && explained.output.contains("byText"), "\(explained.output)\(explained.error)")
        for format in ["table", "csv", "json", "jsonl"] {
            let found = try ToolProcess.runWords(["query", path, "Note", "--search", "birch", "--format", format])
            #expect(found.status == 0 && found.output.contains("birch tree Oak"), "\(format): \(found.output)")
        }
        let none = try ToolProcess.runWords(["query", path, "Note", "--search", "tree", "--search-in", "number"])
        #expect(none.status != 0 && none.error.contains("number"), "\(none.error)")
        let empty = try ToolProcess.runWords(["query", path, "Note", "--search", "", "--count"])
        #expect(empty.status == 0, "\(empty.error)")
    }
}

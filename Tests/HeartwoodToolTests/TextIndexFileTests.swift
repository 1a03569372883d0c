import Foundation
import RecordLog
import TestSupport
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

    @Test("A file with a text index is sound to the tool and to the second reader, and is searched by words", arguments: [false, true])
    func readers(isCompacted: Bool) throws {
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
}

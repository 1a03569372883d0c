import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A text index finds what the scan finds, in whatever way its rows came: batches, versions of a model, other kinds of stores, the past.
@Suite struct TextIndexSourcesTests {
    private static let texts: [String?] = [
        nil, "", "a", "An oak grows", "ash and OAK", "Äpfel und Öl", "Straße nach Köln", "東京都の天気", "zebra", "quick zebra crossing", "x\u{301}y", "oaken",
        String(repeating: "long ", count: 400) + "end",
    ]

    private static let formats = [
        "text CONTAINS[cd] 'OAK'", "text CONTAINS 'oak'", "text BEGINSWITH[c] 'an'", "text ENDSWITH 'ing'", "text LIKE '*zeb*'", "text ==[cd] 'zébra'",
        "text CONTAINS[cd] 'a'", "text CONTAINS '京都'", "text MATCHES '.*grow.*'", "text CONTAINS 'end'", "text CONTAINS[cd] 'strasse' OR text CONTAINS 'zebra'",
    ]

    /// The numbers that each question finds by the index, which are those that a scan finds.
    private static func check(_ context: NSManagedObjectContext, _ when: String, count: Int) throws {
        let all = NSFetchRequest<NSManagedObject>(entityName: "Note")
        #expect(try context.count(for: all) == count, "\(when)")
        for format in formats {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: format)
            func found() throws -> [Int] { try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }.sorted() }
            let indexed = try QueryTuning.with(QueryTuning(access: .index("index:byText"))) { try found() }
            let scanned = try QueryTuning.with(QueryTuning(access: .scan)) { try found() }
            #expect(indexed == scanned, "\(when): \(format)")
        }
        for (words, isPrefix, expected) in [("oak", false, 2), ("oak", true, 3), ("ZEBRA quick", false, 1), ("京都", false, 1), ("nowhere", false, 0)] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.textSearch = TextSearch(words, in: ["text"], matchesLastWordAsPrefix: isPrefix)
            #expect(try context.count(for: request) == expected * (count / texts.count), "\(when): \(words)")
        }
    }

    private static func sound(_ url: URL, _ when: String) throws {
        let report = try StoreVerification.verify(path: url.path, makeExtractor: StoredModel.options.makeExtractor)
        #expect(report.isSound && report.indexEntries > 0, "\(when): \(report.problems)")
    }

    private static func fill(_ context: NSManagedObjectContext, from start: Int = 0) {
        for (number, text) in texts.enumerated() { context.make("Note", ["number": start + number, "text": text]) }
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Batches insert, update and delete entries`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: NoteStack.model())
        let insertion = NSBatchInsertRequest(
            entityName: "Note", objects: Self.texts.enumerated().map { ["number": $0.offset, "text": $0.element as Any? ?? NSNull()] })
        try stack.context.execute(insertion)
        try Self.check(stack.context, "a batch insertion", count: Self.texts.count)
        var left = Self.texts.count
        let more = NSBatchInsertRequest(entityName: "Note", managedObjectHandler: { object in
            object.setValue(100 + left, forKey: "number")
            object.setValue("going oak \(left)", forKey: "text")
            left -= 1
            return left < 0
        })
        try stack.context.execute(more)
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.predicate = NSPredicate(format: "number >= 100 AND text ENDSWITH '2'")
        update.propertiesToUpdate = ["text": "gone elsewhere"]
        try stack.context.execute(update)
        try stack.context.execute(NSBatchDeleteRequest(fetchRequest: {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
            request.predicate = NSPredicate(format: "number >= 100")
            return request
        }()))
        try Self.check(stack.context, "after a batch deletion", count: Self.texts.count)
        if kind == .recordLog { try Self.sound(stack.url, "batches") }
    }

    @Test
    func `A version of the model keeps the index, renames its attribute, and gives it a default`() throws {
        func version(_ change: (NSEntityDescription) -> Void) throws -> NSManagedObjectModel {
            let model = NoteStack.model(isIndexed: false)
            let note = try #require(model.entitiesByName["Note"])
            change(note)
            note.indexes = NoteStack.indexes(of: note)
            return model
        }
        let chain = try Chain()
        try chain.with(try version { note in
            note.propertiesByName["text"]?.name = "body"
            note.properties.first { $0.name == "body" }?.renamingIdentifier = "text"
        }) { context in
            for (number, text) in Self.texts.enumerated() { context.make("Note", ["number": number, "body": text]) }
        }
        try chain.with(try version { $0.propertiesByName["text"]?.renamingIdentifier = "body" }) { context in
            context.persistentStoreCoordinator?.persistentStores.first?.rows?.indexing.wait()
            try Self.check(context, "renamed", count: Self.texts.count)
        }
        let required = try version { note in
            note.propertiesByName["text"]?.isOptional = false
            (note.propertiesByName["text"] as? NSAttributeDescription)?.defaultValue = "an oak by default"
        }
        try chain.with(required) { context in
            context.persistentStoreCoordinator?.persistentStores.first?.rows?.indexing.wait()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.textSearch = TextSearch("default oak", in: ["text"])
            let found = try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }
            #expect(found == [0])
        }
        try Self.sound(chain.url, "versions")
    }

    @Test
    func `A store of another kind brings its rows, and Core Data's file too`() throws {
        let chain = try Chain(), model = NoteStack.model()
        try chain.with(model) { Self.fill($0) }
        var at = chain.url, type = NSRecordLogStoreType
        for (name, next) in [("a.binary", NSBinaryStoreType), ("b.heartwood", NSRecordLogStoreType), ("c.sqlite", NSSQLiteStoreType), ("d.heartwood", NSRecordLogStoreType)] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model), url = chain.scratch[name]
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: at)
            try coordinator.migratePersistentStore(store, to: url, withType: next)
            if next == NSRecordLogStoreType {
                coordinator.persistentStores.first?.rows?.indexing.wait()
                try Self.check(coordinator.newContext(), name, count: Self.texts.count)
            }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            if next == NSRecordLogStoreType { try Self.sound(url, name) }
            (at, type) = (url, next)
        }
    }

    @Test
    func `The past is searched as it was`() throws {
        let past = try PastStore(NoteStack.model())
        Self.fill(past.stack.context)
        let first = try past.save()
        Self.fill(past.stack.context, from: 50)
        let second = try past.save()
        for note in try past.stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) { note.setValue("changed", forKey: "text") }
        let third = try past.save()
        func context(_ commit: UInt64) throws -> NSManagedObjectContext { try past.open(commit, NoteStack.model()) }
        for (commit, rounds) in [(first, 1), (second, 2)] {
            let context = try context(commit)
            try Self.check(context, "as of commit \(commit)", count: Self.texts.count * rounds)
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.textSearch = TextSearch("changed", in: ["text"])
        #expect(try context(third).count(for: request) == Self.texts.count * 2)
        #expect(try context(second).count(for: request) == 0)
    }
}

import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Contexts release the files that compactions replace, and their objects keep their values.
@Suite struct ReplacedFilesTests {
    private static func stack() throws -> TestStack {
        let stack = try TestStack(.recordLog, options: [NSRecordLogAutomaticCompactionOption: false])
        let group = stack.insert("Group", ["title": "one"])
        for index in 0..<20 {
            stack.insert("Person", ["name": "Person \(index)", "age": index, "email": "\(index)@example.org", "group": group])
        }
        try stack.context.save()
        return stack
    }

    private static func compact(_ stack: TestStack) throws { _ = try #require(stack.store.log).compact() }

    /// Expects one descriptor of the file, which is the store's own.
    private static func expectOneFile(_ stack: TestStack, _ comment: Comment = "", sourceLocation: SourceLocation = #_sourceLocation) {
        guard let open = ProcessFiles.descriptors(of: stack.url.path), let mapped = ProcessFiles.mapped(of: stack.url.path) else { return }
        #expect(open == 1 && mapped <= 1, comment, sourceLocation: sourceLocation)
    }

    private static func persons(_ context: NSManagedObjectContext) throws -> [Person] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        return try context.fetch(request)
    }

    private static func names(_ persons: [Person]) -> [String?] { persons.map(\.name) }

    /// Actions that end an event.
    enum End: CaseIterable { case save, fetch, count, processing, performAndWait, mainQueue }

    // On the main thread, where a context of the main queue ends its events.
    @Test(arguments: End.allCases)
    @MainActor func `A context holds one file after the event that follows a compaction, and its objects show what they did`(end: End) throws {
        let stack = try Self.stack()
        let kind: NSManagedObjectContextConcurrencyType = end == .performAndWait ? .privateQueueConcurrencyType : .confinementConcurrencyType
        let context = NSManagedObjectContext(concurrencyType: end == .mainQueue ? .mainQueueConcurrencyType : kind)
        context.persistentStoreCoordinator = stack.coordinator
        func body() throws {
            let persons = try Self.persons(context)
            let before = Self.names(persons)
            for round in 0..<5 {
                // Faults, objects that were read, and changed ones.
                if round > 0 { persons[round].name = "changed \(round)" }
                let shown = Self.names(persons)
                try Self.compact(stack)
                switch end {
                case .save: try context.save()
                case .fetch, .mainQueue: _ = try Self.persons(context)
                case .count: _ = try context.count(for: NSFetchRequest<Person>(entityName: "Person"))
                case .processing, .performAndWait: context.processPendingChanges()
                }
                stack.context.processPendingChanges()
                Self.expectOneFile(stack, "\(end), round \(round)")
                #expect(Self.names(persons) == shown)
            }
            #expect(Self.names(persons).suffix(10) == before.suffix(10))
        }
        if end == .performAndWait { try context.performAndWait(body) } else { try body() }
    }

    @Test
    func `A context that only reads what it has fetched leaves a replaced file when its work ends`() throws {
        let stack = try Self.stack()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        nonisolated(unsafe) var persons: [Person] = []
        try context.performAndWait { persons = try Self.persons(context) }
        for _ in 0..<3 {
            try Self.compact(stack)
            stack.context.processPendingChanges()
            context.performAndWait { #expect(persons[3].name == "Person 3") }
            Self.expectOneFile(stack)
        }
        context.performAndWait { #expect(Self.names(persons) == (0..<20).map { "Person \($0)" }) }
    }

    @Test
    func `Rows that others have changed or deleted stay as they were read, faults among them`() throws {
        let stack = try Self.stack()
        let context = stack.newContext()
        context.mergePolicy = NSMergePolicy.error
        let persons = try Self.persons(context)
        let shown = Self.names(Array(persons[..<10]))
        let theirs = try Self.persons(stack.context)
        for index in 0..<20 where index % 2 == 0 { theirs[index].name = "theirs \(index)" }
        stack.context.delete(theirs[1])
        stack.context.delete(theirs[11])
        try stack.context.save()
        for _ in 0..<3 {
            try Self.compact(stack)
            _ = try context.count(for: NSFetchRequest<Person>(entityName: "Person"))
            stack.context.processPendingChanges()
            Self.expectOneFile(stack)
        }
        #expect(Self.names(Array(persons[..<10])) == shown)
        // The later ones were faults, and show the rows that the fetch found.
        #expect(Self.names(Array(persons[10...])) == (10..<20).map { "Person \($0)" })
        persons[2].name = "ours"
        #expect(throws: (any Error).self) { try context.save() }
        context.refresh(persons[2], mergeChanges: false)
        #expect(persons[2].name == "theirs 2")
    }

    @Test
    func `A child and a grandchild leave replaced files, with values that their parents have not saved`() throws {
        let stack = try Self.stack()
        let root = stack.context
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = root
        let grandchild = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        grandchild.parent = child
        let persons = try Self.persons(root), below = try Self.persons(child)
        persons[0].name = "root"
        let deepest = try Self.persons(grandchild)
        below[1].name = "child"
        try child.save()
        let shown = [persons, below, deepest].map(Self.names)
        for _ in 0..<4 {
            try Self.compact(stack)
            for context in [grandchild, child, root] { context.processPendingChanges() }
            Self.expectOneFile(stack)
            #expect([persons, below, deepest].map(Self.names) == shown)
        }
        deepest[5].name = "deepest"
        try grandchild.save()
        try child.save()
        try root.save()
        #expect(try Self.persons(stack.newContext())[5].name == "deepest")
    }

    @Test
    func `Changes and deletions are undone after the rows that they name have moved`() throws {
        let stack = try Self.stack()
        let context = stack.newContext()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        let persons = try Self.persons(context)
        let before = Self.names(persons)
        for round in 0..<3 {
            persons[round].name = "changed \(round)"
            context.processPendingChanges()
            try context.save()
            try Self.compact(stack)
            context.processPendingChanges()
            stack.context.processPendingChanges()
            Self.expectOneFile(stack)
        }
        let gone = persons[10]
        context.delete(gone)
        context.processPendingChanges()
        try context.save()
        try Self.compact(stack)
        context.processPendingChanges()
        Self.expectOneFile(stack)
        manager.undo()
        #expect(gone.managedObjectContext === context && gone.name == "Person 10" && gone.age == 10)
        for _ in 0..<3 { manager.undo() }
        #expect(Self.names(persons) == before)
        try context.save()
        #expect(try Self.names(Self.persons(stack.newContext())) == before)
        for _ in 0..<4 { manager.redo() }
        #expect(persons[1].name == "changed 1" && gone.isDeleted)
    }

    @Test
    func `Large values of rows that others have changed are read after their file is gone`() throws {
        let stack = try TestStack(.recordLog, model: ExternalDataTests.model(), options: [NSRecordLogAutomaticCompactionOption: false])
        func data(_ byte: UInt8) -> Data { Data(repeating: byte, count: 30_000) }
        for index in 0..<6 { stack.insert("Photo", ["title": "\(index)", "image": data(UInt8(index))]) }
        stack.insert("Photo", ["title": "9"])
        try stack.context.save()
        let context = stack.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let photos = try context.fetch(request), theirs = try stack.context.fetch(request)
        #expect(photos[1].value(forKey: "title") as? String == "1")
        theirs[1].setValue(data(100), forKey: "image")
        theirs[2].setValue(nil as Data?, forKey: "image")
        theirs[3].setValue("third", forKey: "title")
        theirs[6].setValue(data(7), forKey: "image")
        stack.context.delete(theirs[4])
        try stack.context.save()
        for _ in 0..<2 {
            try Self.compact(stack)
            stack.context.processPendingChanges()
            context.processPendingChanges()
            Self.expectOneFile(stack)
        }
        for index in 0..<6 { #expect(photos[index].value(forKey: "image") as? Data == data(UInt8(index))) }
        #expect(photos[6].value(forKey: "image") == nil && context.readingFailure == nil)
    }

    @Test
    func `An object that was deleted, or whose context has gone, keeps its values and no file`() throws {
        let stack = try Self.stack()
        var context: NSManagedObjectContext? = stack.newContext()
        let persons = try Self.persons(context!)
        #expect(persons[0].name == "Person 0" && persons[1].name == "Person 1")
        context!.delete(persons[0])
        try context!.save()
        context = nil
        try Self.compact(stack)
        stack.context.processPendingChanges()
        _ = try stack.newContext().count(for: NSFetchRequest<Person>(entityName: "Person"))
        Self.expectOneFile(stack)
        #expect(persons[0].name == "Person 0" && persons[1].name == "Person 1")
    }

    @Test
    func `An object that a child has deleted keeps its parent's unsaved values and its row`() throws {
        let stack = try Self.stack()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        let parents = try Self.persons(stack.context)
        parents[0].age = 77
        let person = try #require(try child.existingObject(with: parents[0].objectID) as? Person)
        #expect(person.age == 77)
        child.delete(person)
        try child.save()
        try stack.context.save()
        for _ in 0..<2 {
            try Self.compact(stack)
            for context in [child, stack.context] { context.processPendingChanges() }
            Self.expectOneFile(stack)
        }
        #expect(person.managedObjectContext == nil && person.name == "Person 0" && person.age == 77)
    }

    @Test
    func `A query generation keeps its file until it is left`() throws {
        let stack = try Self.stack()
        let context = stack.newContext()
        try context.setQueryGenerationFrom(.current)
        let persons = try Self.persons(context)
        for round in 0..<3 {
            try stack.context.fetch(NSFetchRequest<Person>(entityName: "Person")).first?.age = 100 + round
            try stack.context.save()
            try Self.compact(stack)
            stack.context.processPendingChanges()
            context.processPendingChanges()
            if let open = ProcessFiles.descriptors(of: stack.url.path) { #expect(open == 2) }
        }
        #expect(Self.names(persons) == (0..<20).map { "Person \($0)" })
        #expect(try Self.persons(context).map(\.age) == Array(0..<20))
        try context.setQueryGenerationFrom(nil)
        context.processPendingChanges()
        Self.expectOneFile(stack)
    }

    @Test
    func `A fetch by an object that is being made or awoken moves no row of the outer fetch`() throws {
        let model = TestStack.model()
        model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(FetchingPerson.self)
        let stack = try TestStack(.recordLog, model: model, options: [NSRecordLogAutomaticCompactionOption: false])
        for index in 0..<20 { stack.insert("Person", ["name": "Person \(index)", "age": index]) }
        try stack.context.save()
        let context = stack.newContext()
        let log = try #require(stack.store.log)
        try FetchingPerson.$isFetching.withValue({ _ = try log.compact() }) {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            let persons = try context.fetch(request)
            #expect(persons.map { $0.value(forKey: "name") as? String } == (0..<20).map { "Person \($0)" })
        }
    }
}

/// Fetches, and compacts the store, whenever an object is inserted or wakes.
final class FetchingPerson: NSManagedObject {
    @TaskLocal static var isFetching: (@Sendable () throws -> Void)?

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        if let context { disturb(context) }
    }

    override func awakeFromFetch() {
        if let context = managedObjectContext { disturb(context) }
    }

    private func disturb(_ context: NSManagedObjectContext) {
        guard let compact = Self.isFetching else { return }
        try? compact()
        _ = try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Group"))
        context.processPendingChanges()
    }
}

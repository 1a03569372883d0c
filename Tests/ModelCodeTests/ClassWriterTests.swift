import Foundation
import Heartwood
import Testing

@testable import HeartwoodModelCode

/// The expected output of the generator; these files are compiled into this target.
enum Reference {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Reference")
    static let model = folder.deletingLastPathComponent().deletingLastPathComponent().path + "/Goldens/Models/Library.xcdatamodeld"
}

/// Author's Codegen is Category/Extension: its class is written by hand.
public class Author: NSManagedObject {}

struct ClassWriterTests {
    private static func stack() throws -> NSManagedObjectContext {
        let model = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: Reference.model))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(type: .inMemory, configuration: nil, at: URL(fileURLWithPath: "/dev/null"), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// HEARTWOOD_RENEW_REFERENCES=1 writes the references again.
    @Test
    func `The generated files equal the references`() throws {
        let files = ClassWriter(try CodeModelReader.read(Reference.model), importing: "Heartwood").files()
        if ProcessInfo.processInfo.environment["HEARTWOOD_RENEW_REFERENCES"] != nil {
            for file in files { try Data(file.text.utf8).write(to: Reference.folder.appendingPathComponent(file.name)) }
        }
        #expect(files.map(\.name).sorted() == (try FileManager.default.contentsOfDirectory(atPath: Reference.folder.path)).sorted())
        for file in files {
            #expect(try String(contentsOf: Reference.folder.appendingPathComponent(file.name), encoding: .utf8) == file.text)
        }
    }

    @Test
    func `Generated properties read and write the store`() throws {
        let context = try Self.stack()
        let book = Book(context: context)
        #expect(book.isInPrint && book.edition == 1 && book.pages == 0 && book.title == nil && book.copies == nil)
        let isbn = UUID()
        book.title = "Moby"
        book.pages = 635
        book.shelf = -3
        book.rating = 4.5
        book.weight = 0.25
        book.isInPrint = false
        book.isbn = isbn
        book.cover = Data([1, 2])
        book.price = NSDecimalNumber(value: 12)
        book.site = URL(string: "https://example.org")
        book.tags = NSArray(array: ["sea"])
        book.copies = NSNumber(value: Int16(4))
        book.default = "d"
        book.madeOn = Date(timeIntervalSinceReferenceDate: 9)
        try context.save()
        context.reset()
        let read = try #require(try context.fetch(Book.fetchRequest()).first)
        #expect(read.title == "Moby" && read.pages == 635 && read.shelf == -3 && read.rating == 4.5 && read.weight == 0.25)
        #expect(!read.isInPrint && read.isbn == isbn && read.cover == Data([1, 2]) && read.price == NSDecimalNumber(value: 12))
        #expect(read.site?.absoluteString == "https://example.org" && read.tags?.count == 1 && read.copies == 4 && read.default == "d")
        #expect(read.madeOn == Date(timeIntervalSinceReferenceDate: 9))
        let request = Chapter.fetchRequest()
        #expect(type(of: request) == NSFetchRequest<Chapter>.self, "not NSManagedObject's, without a type beside it")
    }

    @Test
    func `Generated relationship accessors keep order and inverses`() throws {
        let context = try Self.stack()
        let book = Book(context: context)
        let chapters = (0..<4).map { _ in Chapter(context: context) }
        book.addToChapters(chapters[0])
        book.insertIntoChapters(chapters[1], at: 0)
        book.insertIntoChapters([chapters[2]], at: NSIndexSet(index: 1))
        #expect(book.chapters?.array as? [Chapter] == [chapters[1], chapters[2], chapters[0]])
        book.replaceChapters(at: 0, with: chapters[3])
        book.removeFromChapters(at: 1)
        #expect(book.chapters?.array as? [Chapter] == [chapters[3], chapters[0]] && chapters[1].book == nil)
        let author = Author(context: context)
        author.addToWorks(NSSet(array: [book]))
        #expect(book.authors?.count == 1 && author.works?.anyObject() as? Book === book)
        author.works = nil
        #expect(book.authors?.count == 0)
    }

    /// One class under two models whose properties have different indexes, used alternately.
    @Test
    func `A class serves models whose property indexes differ`() throws {
        func chapter(_ names: [String]) throws -> Chapter {
            let entity = NSEntityDescription()
            entity.name = "Chapter"
            entity.managedObjectClassName = "ModelCodeTests.Chapter"
            entity.properties = names.map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = .stringAttributeType
                return attribute
            }
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            _ = try coordinator.addPersistentStore(type: .inMemory, configuration: nil, at: URL(fileURLWithPath: "/dev/null"), options: nil)
            return Chapter(entity: entity, insertInto: context)
        }
        let first = try chapter(["heading", "book"])
        let second = try chapter(["aside", "book", "heading"])
        for round in 0..<3 {
            first.heading = "first \(round)"
            second.heading = "second \(round)"
            #expect(first.value(forKey: "heading") as? String == first.heading && first.heading == "first \(round)")
            #expect(second.value(forKey: "heading") as? String == second.heading && second.heading == "second \(round)")
        }
    }

    @Test(
        arguments: [
        ("<model><entity name=\"A\" parentEntity=\"B\"/></model>", ":1:"), ("<model>\n<entity name=\"A b\"/></model>", ":2:"),
        ("<model><entity name=\"A\"/>\n<entity name=\"A\"/></model>", ":2:"), ("<model><entity", ":1:"),
        ("<model><entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"Z\"/></entity></model>", ":2:"),
        ("<model><entity name=\"A\" parentEntity=\"A\"/></model>", ":1:"),
    ])
    func `A bad model is refused with its line`(text: String, line: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("bad-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: CodeError.self) { try CodeModelReader.read(file.path) }
        #expect(error?.description.contains(line) == true)
    }

    @Test
    func `Ninety entities with seven hundred attributes take less than a second`() throws {
        let entities = (0..<90).map { entity in
            "<entity name=\"E\(entity)\" representedClassName=\"E\(entity)\" codeGenerationType=\"class\">"
                + (0..<8).map { "<attribute name=\"a\($0)\" attributeType=\"Integer 64\" usesScalarValueType=\"YES\"/>" }.joined()
                + "</entity>"
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("large-\(UUID().uuidString)")
        try Data("<model>\(entities.joined())</model>".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ContinuousClock()
        var count = 0
        let time = try clock.measure { count = ClassWriter(try CodeModelReader.read(file.path)).files().count }
        #expect(count == 180)
        #expect(time < .seconds(1))
    }
}

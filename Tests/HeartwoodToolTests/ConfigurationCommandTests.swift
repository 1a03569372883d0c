import Foundation
import Heartwood
import Testing

/// The tool on stores that were added under configurations of their model: two stores of one program, each with a part of the entities.
@Suite struct ConfigurationCommandTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-configurations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("M.xcdatamodel"), withIntermediateDirectories: true)
        try Self.model.write(to: folder.appendingPathComponent("M.xcdatamodel/contents"), atomically: true, encoding: .utf8)
    }

    private static let model = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model>
        <entity name="Group"><attribute name="title" attributeType="String"/>
          <relationship name="people" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person" inverseName="group" inverseEntity="Person"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints></entity>
        <entity name="Person"><attribute name="name" attributeType="String"/><attribute name="age" optional="YES" attributeType="Integer 64"/>
          <relationship name="group" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Group" inverseName="people" inverseEntity="Group"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints></entity>
        <entity name="Note"><attribute name="text" attributeType="String"/></entity>
        <configuration name="Local"><memberEntity name="Group"/><memberEntity name="Person"/></configuration>
        <configuration name="Shared"><memberEntity name="Note"/></configuration>
        </model>
        """

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A context over both stores, as in a program.
    private func open() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSManagedObjectModel.load(contentsOf: folder.appendingPathComponent("M.xcdatamodel")))
        for configuration in ["Local", "Shared"] {
            try coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: configuration, at: URL(fileURLWithPath: path(configuration)),
                options: [NSPersistentHistoryTrackingKey: true])
        }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func close(_ context: NSManagedObjectContext) throws {
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] { try context.persistentStoreCoordinator?.remove(store) }
    }

    /// Makes both stores.
    /// - Returns: the URIs of a person and of a note.
    private func fill() throws -> (person: String, note: String) {
        let context = try open()
        context.transactionAuthor = "program"
        func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let group = make("Group", ["title": "north"])
        let people = ["Ada", "Bo"].enumerated().map { make("Person", ["name": $0.element, "age": 30 + $0.offset, "group": group]) }
        let note = make("Note", ["text": "shared"])
        try context.save()
        defer { try? close(context) }
        return (people[0].objectID.uriRepresentation().absoluteString, note.objectID.uriRepresentation().absoluteString)
    }

    private func run(_ arguments: String..., input: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let result = try ToolProcess.runWords(arguments, input: input)
        #expect(result.status == 0, "\(result.error)", sourceLocation: sourceLocation)
        return result.output
    }

    private let people = """
        {"age":30,"group":"north","name":"Ada"}
        {"age":31,"group":"north","name":"Bo"}

        """

    @Test
    func `Query, export and inspect show the entities of the store's configuration, and refuse the others`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let uris = try fill()
        #expect(try run("query", path("Local"), "Person", "--sort", "name", "--select", "name,group.title", "--format", "csv") == """
            name,group.title
            Ada,north
            Bo,north

            """)
        #expect(try run("query", path("Local"), "Person", "--where", "age > 30", "--count").contains("1"))
        #expect(try run("query", path("Shared"), "Note", "--format", "jsonl") == "{\"text\":\"shared\"}\n")
        #expect(try run("export", path("Local"), "--entity", "Person", "--sort", "name") == people)
        let all = try run("export", path("Local"), "--all")
        #expect(all.split(separator: "\n").count == 3 && all.contains("\"@entity\":\"Group\"") && !all.contains("Note"), "\(all)")
        #expect(try run("export", path("Shared"), "--all").contains("\"text\":\"shared\""))
        #expect(try run("inspect", path("Local"), "--object", uris.person, "--json") == people.split(separator: "\n")[0] + "\n")
        #expect(try run("inspect", path("Shared"), "--object", uris.note).contains("shared"))
        #expect(try run("inspect", path("Local")).contains("Person"))
        for arguments in [
            ["query", path("Local"), "Note"], ["export", path("Local"), "--entity", "Note"], ["query", path("Shared"), "Person"],
            ["inspect", path("Local"), "--object", uris.note],
        ] {
            let refused = try ToolProcess.runWords(arguments)
            #expect(refused.status == 2 && refused.output.isEmpty && !refused.error.isEmpty, "\(arguments): \(refused.error)")
        }
    }

    @Test
    func `Import writes to a store of a configuration, history lists what was written, and the program reads it`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let uris = try fill()
        let lines = #"{"name":"Ada","age":40}"# + "\n" + #"{"name":"Cy","group":"south"}"# + "\n"
        _ = try run("import", path("Local"), "--entity", "Person", "--key", "name", "-", input: lines)
        #expect(try run("export", path("Local"), "--entity", "Person", "--sort", "name") == """
            {"age":40,"group":"north","name":"Ada"}
            {"age":31,"group":"north","name":"Bo"}
            {"group":"south","name":"Cy"}

            """)
        _ = try run("import", path("Shared"), "--entity", "Note", "--key", "text", "-", input: "{\"text\":\"more\"}\n")
        let refused = try ToolProcess.run("import", path("Local"), "--entity", "Note", "-", input: "{\"text\":\"no\"}\n")
        #expect(refused.status != 0 && refused.error.contains("there is no entity \"Note\""), "\(refused.error)")
        // Another configuration is ignored: the store's own holds.
        _ = try run("import", path("Local"), "--configuration", "Shared", "--entity", "Person", "--key", "name", "-", input: "{\"name\":\"Di\"}\n")

        let history = try run("history", path("Local"))
        #expect(history.contains("author program") && history.contains("+\(uris.person)") && history.contains("*\(uris.person)  age"), "\(history)")
        #expect(try run("history", path("Local"), "--author", "program", "--json").split(separator: "\n").count == 1)
        #expect(try run("history", path("Shared")).contains("+\(uris.note)"))
        _ = try run("history", path("Local"), "--delete-before", "2")
        #expect(try !run("history", path("Local")).contains("author program"))

        let context = try open()
        let names = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap { $0.value(forKey: "name") as? String }
        #expect(names.sorted() == ["Ada", "Bo", "Cy", "Di"])
        let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).compactMap { $0.value(forKey: "text") as? String }
        #expect(notes.sorted() == ["more", "shared"])
        try close(context)
    }

    @Test
    func `Import makes a store of a configuration, which is equal to the one that was exported`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try fill()
        let exported = try run("export", path("Local"), "--all")
        _ = try run("import", path("copy"), "--model", path("M.xcdatamodel"), "--configuration", "Local", "-", input: exported)
        #expect(try run("export", path("copy"), "--entity", "Person", "--sort", "name") == people)
        #expect(try ToolProcess.run("query", path("copy"), "Note").status == 2)
        // A program that adds the store under that configuration finds it.
        try FileManager.default.removeItem(atPath: path("Local"))
        try FileManager.default.moveItem(atPath: path("copy"), toPath: path("Local"))
        let context = try open()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
        try close(context)
        let unknown = try ToolProcess.run(
            "import", path("other"), "--model", path("M.xcdatamodel"), "--configuration", "Nobody", "--entity", "Note", "-", input: "")
        #expect(unknown.status == 2 && unknown.error.contains("no configuration \"Nobody\""), "\(unknown.error)")
        let foreign = try ToolProcess.run(
            "import", path("other"), "--model", path("M.xcdatamodel"), "--configuration", "Local", "--entity", "Note", "--key", "text", "-",
            input: "{\"text\":\"no\"}\n")
        #expect(foreign.status == 2 && foreign.error.contains("no entity \"Note\""), "\(foreign.error)")
        #expect(!FileManager.default.fileExists(atPath: path("other")))
    }

    @Test
    func `Migrate brings a store of a configuration to another version, under its configuration`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let uris = try fill()
        try FileManager.default.createDirectory(atPath: path("N.xcdatamodel"), withIntermediateDirectories: true)
        func write(_ model: String) throws { try model.write(toFile: path("N.xcdatamodel/contents"), atomically: true, encoding: .utf8) }
        let newer = Self.model.replacingOccurrences(
            of: "<attribute name=\"age\"", with: "<attribute name=\"email\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"age\"")
        // A version without the configuration is refused before anything is written.
        try write(newer.replacingOccurrences(of: "\"Local\"", with: "\"Elsewhere\""))
        let refused = try ToolProcess.run("migrate", path("Local"), "--to", path("N.xcdatamodel"))
        #expect(refused.status == 2 && refused.error.contains("no configuration \"Local\""), "\(refused.error)")
        #expect(try run("export", path("Local"), "--entity", "Person", "--sort", "name") == people)

        try write(newer)
        #expect(try run("migrate", path("Local"), "--to", path("N.xcdatamodel")).contains("3 objects"))
        _ = try run("verify", path("Local"))
        _ = try run("import", path("Local"), "--entity", "Person", "--key", "name", "-", input: "{\"name\":\"Ada\",\"email\":\"a@b\"}\n")
        #expect(
            try run("inspect", path("Local"), "--object", uris.person, "--json") == "{\"age\":30,\"email\":\"a@b\",\"group\":\"north\",\"name\":\"Ada\"}\n")
        #expect(try ToolProcess.run("query", path("Local"), "Note").status == 2)
        // A program of that version adds both stores: nothing has changed in the other store's part of the model.
        try FileManager.default.removeItem(atPath: path("M.xcdatamodel"))
        try FileManager.default.moveItem(atPath: path("N.xcdatamodel"), toPath: path("M.xcdatamodel"))
        let context = try open()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
        try close(context)
    }

    @Test
    func `Verify and compact go over a store of a configuration, which its program opens afterwards`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let uris = try fill()
        for number in 0..<20 {
            _ = try run("import", path("Local"), "--entity", "Person", "--key", "name", "-", input: "{\"name\":\"Ada\",\"age\":\(number + 1)}\n")
            guard number % 10 == 9 else { continue }
            for name in ["Local", "Shared"] {
                _ = try run("verify", path(name))
                _ = try run("compact", path(name))
                _ = try run("verify", path(name))
            }
        }
        #expect(try run("inspect", path("Local"), "--object", uris.person, "--json") == "{\"age\":20,\"group\":\"north\",\"name\":\"Ada\"}\n")
        _ = try run("compact", path("Local"), "--to", path("copy"))
        #expect(try run("export", path("copy"), "--all") == run("export", path("Local"), "--all"))
        let context = try open()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
        try close(context)
    }
}

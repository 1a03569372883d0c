import Foundation
import Testing

@testable import Heartwood

/// A mapping model in Xcode's form: its objects, each with its attributes' texts and expressions.
private struct MappingFile {
    struct Property {
        let name: String
        /// nil for the editor's default.
        var expression: NSExpression?
        var isFilledIn = true
    }

    let source: String
    let destination: String
    var expression: NSExpression?
    var isFilledIn = true
    var attributes: [Property] = []
    var relationships: [Property] = []

    private static func attribute(_ name: String, _ text: String) -> String { "<attribute name=\"\(name)\" type=\"string\">\(text)</attribute>" }

    private static func expression(_ name: String, _ expression: NSExpression?, _ isFilledIn: Bool) -> String {
        let text = expression.map { attribute(name, Data(CompiledModelWriter.bytes($0)).base64EncodedString()) } ?? ""
        return text + attribute("autogenerateexpression", isFilledIn ? "1" : "0")
    }

    func write(to folder: URL) throws {
        var objects: [String] = [], number = 2
        func add(_ list: [Property], _ type: String) -> String {
            list.map { property in
                number += 1
                objects.append(
                    "<object type=\"\(type)\" id=\"z\(number)\">" + Self.attribute("name", property.name)
                        + Self.expression("valueexpressiondata", property.expression, property.isFilledIn) + "</object>")
                return "z\(number)"
            }.joined(separator: " ")
        }
        let attributes = add(self.attributes, "XDDEVATTRIBUTEMAPPING"), relationships = add(self.relationships, "XDDEVRELATIONSHIPMAPPING")
        let entity = "<object type=\"XDDEVENTITYMAPPING\" id=\"z2\">" + Self.attribute("name", "\(source)To\(destination)")
            + Self.attribute("sourcename", source) + Self.attribute("destinationname", destination) + Self.attribute("mappingtypename", "Transform")
            + Self.expression("sourceexpressiondata", expression, isFilledIn)
            + "<relationship name=\"attributemappings\" idrefs=\"\(attributes)\"/><relationship name=\"relationshipmappings\" idrefs=\"\(relationships)\"/></object>"
        let root = "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"><relationship name=\"entitymappings\" idrefs=\"z2\"/></object>"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("<database>\(root)\(entity)\(objects.joined())</database>".utf8).write(to: folder.appendingPathComponent("xcmapping.xml"))
    }
}

@Suite struct MappingFileTests {
    private static let old: Sketch = "Book: name:string title:string note:string code:string pages:int32 next>Book/previous previous>Book/next"
    private static let new: Sketch = "Book: name:string title:string note:string code:string sheets:int32 next>Book/previous previous>Book/next"

    private static let destinations = "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"BookToBook\", $source.previous)"
    private static let source = "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Book\", \"pages > 100\")"

    /// Every kind of expression that a property may have; without it each would be the source's property with its name.
    private static func file(isFilledIn: Bool, isStated: Bool) -> MappingFile {
        func property(_ name: String, _ expression: NSExpression) -> MappingFile.Property {
            MappingFile.Property(name: name, expression: isStated ? expression : nil, isFilledIn: isFilledIn)
        }
        return MappingFile(
            source: "Book", destination: "Book", expression: isStated ? NSExpression(format: source) : nil, isFilledIn: isFilledIn,
            attributes: [
                MappingFile.Property(name: "name"), property("title", NSExpression(forConstantValue: "literal")),
                property("note", NSExpression(forConstantValue: nil)),
                property("code", NSExpression(format: "FUNCTION($source.code, 'uppercaseString')")),
                property("sheets", NSExpression(format: "$source.pages + 1")),
            ],
            relationships: [property("next", NSExpression(format: destinations))])
    }

    private func migrated(_ file: MappingFile) throws -> [String] {
        let chain = try Chain(), folder = chain.scratch["a.xcmappingmodel"]
        try file.write(to: folder)
        try chain.with(Self.old) { context in
            let books = ["a", "b", "c"].enumerated().map { scratch, name in
                context.make("Book", ["name": name, "title": "t", "note": "n", "code": "x" + name, "pages": 100 + scratch])
            }
            books[1].setValue(books[0], forKey: "previous")
            books[2].setValue(books[1], forKey: "previous")
        }
        let manager = NSMigrationManager(sourceModel: Self.old.model, destinationModel: Self.new.model)
        try manager.migrateStore(
            from: chain.url, type: .recordLog, mapping: try NSMappingModel.load(contentsOf: folder), to: chain.scratch["new"], type: .recordLog)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.new.model)
        let store = try coordinator.addPersistentStore(type: .recordLog, at: chain.scratch["new"])
        defer { try? coordinator.remove(store) }
        return try coordinator.newContext().lines().sorted()
    }

    /// It was once dropped, and its value was lost silently.
    @Test(arguments: [true, false])
    func `An expression counts with every setting of the editor`(isFilledIn: Bool) throws {
        #expect(try migrated(Self.file(isFilledIn: isFilledIn, isStated: true)) == [
            "Book: code=XB name=b next=- note=nil previous=c sheets=102 title=literal",
            "Book: code=XC name=c next=b note=nil previous=- sheets=103 title=literal",
        ])
    }

    @Test
    func `Mappings that the editor fills in follow from the models`() throws {
        #expect(try migrated(Self.file(isFilledIn: true, isStated: false)) == [
            "Book: code=xa name=a next=b note=n previous=- sheets=nil title=t",
            "Book: code=xb name=b next=c note=n previous=a sheets=nil title=t",
            "Book: code=xc name=c next=- note=n previous=b sheets=nil title=t",
        ])
    }

    /// The form of a target's resources in SwiftPM, where a container and an automatic migration find models.
    @Test
    func `A mapping model is looked for where a container looks`() throws {
        let executable = try #require(Bundle.main.executableURL).resolvingSymlinksInPath().deletingLastPathComponent()
        let bundle = executable.appendingPathComponent("MappingFileTests-\(UUID().uuidString).resources")
        // Versions that no other test has.
        let old: Sketch = "Found: name:string count:int32", new: Sketch = "Found: name:string number:int32"
        var file = MappingFile(source: "Found", destination: "Found")
        file.attributes = [.init(name: "name"), .init(name: "number", expression: NSExpression(format: "$source.count"))]
        defer { try? FileManager.default.removeItem(at: bundle) }
        try file.write(to: bundle.appendingPathComponent("found.xcmappingmodel"))
        #expect(NSMappingModel(from: [Bundle.main], forSourceModel: old.model, destinationModel: new.model) == nil)
        let found = try #require(NSMappingModel(from: nil, forSourceModel: old.model, destinationModel: new.model))
        #expect(found.entityMappings.map(\.name) == ["FoundToFound"])
        #expect(NSMappingModel(from: nil, forSourceModel: new.model, destinationModel: old.model) == nil)
    }
}

import Foundation
import HeartwoodModelCode
import Testing

/// Collections whose class does not match the order in the model; Core Data checks neither.
struct ManagedCollectionTests {
    private func writer(_ source: String, isOrdered: Bool) throws -> ManagedAccessorWriter {
        let model = """
            <model><entity name="List" representedClassName="List"><relationship name="items" toMany="YES" \(isOrdered ? "ordered=\"YES\"" : "")
            destinationEntity="Item"/></entity><entity name="Item" representedClassName="Item"/></model>
            """
        let text = "class List: NSManagedObject {\n\(source)\n}\nclass Item: NSManagedObject {}\n"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("collection-\(UUID().uuidString).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(model.utf8).write(to: folder.appendingPathComponent("contents"))
        return ManagedAccessorWriter(
            module: "App", models: [try CodeModelReader.read(folder.path)], sources: [.init(path: "List.swift", text: text)])
    }

    @Test
    func `A Set for an ordered relationship works with a warning`() throws {
        let found = try writer("@NSManaged var items: Set<Item>?\n@NSManaged func addToItems(_ values: NSSet)", isOrdered: true)
        #expect(found.problems.isEmpty && found.warnings.count == 2)
        #expect(found.warnings.first?.hasPrefix(
            "List.swift:2: warning: @NSManaged List.items: the model says that the relationship is ordered") == true)
        #expect(found.warnings.last?.hasPrefix("List.swift:3: warning: @NSManaged func List.addToItems") == true)
        #expect(found.text.contains("uncheckedDestinations(at: ") && found.text.contains("values.allObjects as? [NSManagedObject]"))
    }

    @Test
    func `An ordered set for an unordered relationship works with a warning`() throws {
        let found = try writer("@NSManaged var items: NSOrderedSet?\n@NSManaged func addToItems(_ values: NSOrderedSet)", isOrdered: false)
        #expect(found.problems.isEmpty && found.warnings.count == 2 && found.text.contains("NSOrderedSet(array: managedObjects(at: "))
    }

    @Test
    func `A property that agrees with the model has no warning`() throws {
        for (isOrdered, type) in [(true, "NSOrderedSet"), (false, "NSSet"), (false, "Set<Item>")] {
            let found = try writer("@NSManaged var items: \(type)?", isOrdered: isOrdered)
            #expect(found.problems.isEmpty && found.warnings.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `Functions with Core Data's Objective-C names work`(isOrdered: Bool) throws {
        let source = """
            @NSManaged func addItems(_ values: NSSet)
            @NSManaged func removeItems(_ values: NSOrderedSet)
            @NSManaged func addItemsObject(_ value: Item)
            @NSManaged func removeItemsObject(_ value: Item)
            @NSManaged func addToItems(_ values: Set<Item>)
            @NSManaged func removeItems(_ values: Set<Item>)
            """
        let found = try writer(source, isOrdered: isOrdered)
        #expect(found.problems.isEmpty && found.warnings.isEmpty)
        #expect(found.text.contains("addManagedObjects(Array(values)") && found.text.contains("removeManagedObjects(Array(values)"))
        #expect(found.text.contains("{ addManagedObject(value, ") && found.text.contains("{ removeManagedObject(value, "))
        // Without a model the function's name determines the relationship.
        let own = "class Own: NSManagedObject {\n@NSManaged var items: NSSet?\n\(source)\n}\nclass Item: NSManagedObject {}"
        let described = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "Own.swift", text: own)])
        #expect(described.problems.isEmpty)
        #expect(described.text.contains(Array(repeating: "\"items\"", count: 7).joined(separator: ", ")))
    }

    @Test
    func `Aliases stand for their types`() throws {
        let source = """
            typealias ID = String
            typealias Items = Set<Item>
            @NSManaged var items: Items?
            @NSManaged var identifier: ID
            @NSManaged var parent: List.ID?
            @NSManaged var tags: [Item.ID]
            @NSManaged func addToItems(_ value: Member)
            """
        let model = """
            <model><entity name="List" representedClassName="List"><relationship name="items" toMany="YES" destinationEntity="Item"/>
            <attribute name="identifier" attributeType="String"/><attribute name="parent" optional="YES" attributeType="String"/>
            <attribute name="tags" attributeType="Transformable"/></entity><entity name="Item" representedClassName="Item"/></model>
            """
        let text = "typealias Member = Item\nclass List: NSManagedObject {\n\(source)\n}\nclass Item: NSManagedObject {\ntypealias ID = UUID\n}\n"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("aliases-\(UUID().uuidString).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(model.utf8).write(to: folder.appendingPathComponent("contents"))
        let found = ManagedAccessorWriter(
            module: "App", models: [try CodeModelReader.read(folder.path)], sources: [.init(path: "List.swift", text: text)])
        #expect(found.problems.isEmpty && found.warnings.isEmpty)
        for type in ["identifier() -> String {", "parent() -> String? {", "tags() -> [UUID] {", "items() -> Set<Item>? {"] {
            #expect(found.text.contains("managedGet_\(type)"))
        }
        let circle = "class List: NSManagedObject {\ntypealias A = B\ntypealias B = A\n@NSManaged var a: A\n}"
        #expect(ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "A.swift", text: circle)]).problems.count == 1)
    }

    @Test
    func `Functions of a class that no model names work by their names`() {
        let source = "class Own: NSManagedObject {\n@NSManaged var URLs: NSSet?\n@NSManaged func addToURLs(_ value: Own)\n"
            + "@NSManaged func addToParts(_ values: NSSet)\n@NSManaged func shuffle(_ values: NSSet)\n}\n"
        let found = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "Own.swift", text: source)])
        #expect(found.text.contains("\"URLs\", \"URLs\", \"parts\"") && found.text.contains("addManagedObject(value"))
        #expect(found.problems.count == 1 && found.problems.first?.contains("Own.shuffle") == true)
    }

    @Test
    func `Classes in one type are written with its name`() throws {
        let source = """
            enum Office {
                class List: NSManagedObject {
                    @NSManaged var items: Set<Item>?
                    @NSManaged var first: Item?
                    @NSManaged func addToItems(_ value: Item)
                    @NSManaged func removeFromItems(_ values: Set<Office.Item>)
                }
                class Item: NSManagedObject {
                    class Part: NSManagedObject { @NSManaged var lists: [String: [List]]? }
                }
            }
            """
        let found = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "Office.swift", text: source)])
        #expect(found.problems.isEmpty && found.warnings.isEmpty, "\(found.problems) \(found.warnings)")
        for text in [
            "extension Office.List {", "-> Set<Office.Item>?", "-> Office.Item?", "addToItems(_ value: Office.Item)",
            "removeFromItems(_ values: Set<Office.Item>)", "-> [String:[Office.List]]?",
        ] { #expect(found.text.contains(text), "\(text) in \(found.text)") }
    }

    @Test
    func `A class in a function is left out with a warning in its line`() throws {
        let source = """
            class Item: NSManagedObject { @NSManaged var name: String? }
            func make() {
                class Item: NSManagedObject {
                    @NSManaged var local: String?
                    class Inner: NSManagedObject { @NSManaged func addToItems(_ value: Item) }
                }
            }
            let lazily: Int = { class Other: NSManagedObject { @NSManaged var name: String?, age: Int64 }; return 1 }()
            """
        let found = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "Item.swift", text: source)])
        #expect(found.problems.isEmpty && found.text.contains("managedGet_name") && !found.text.contains("local"))
        let lines = found.warnings.map { $0.prefix { $0 != "@" } }
        #expect(lines == ["Item.swift:4: warning: ", "Item.swift:5: warning: ", "Item.swift:8: warning: "], "\(found.warnings)")
        #expect(found.text.components(separatedBy: "managedGet_").count == 2)
    }
}

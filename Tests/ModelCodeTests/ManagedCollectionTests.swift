import Foundation
import ModelCode
import Testing

/// Collections of another class than the model's order asks for: Core Data looks at neither.
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

    @Test func aSetOfAnOrderedRelationshipIsServedWithAWarning() throws {
        let found = try writer("@NSManaged var items: Set<Item>?\n@NSManaged func addToItems(_ values: NSSet)", isOrdered: true)
        #expect(found.problems.isEmpty && found.warnings.count == 2)
        #expect(found.warnings.first?.hasPrefix("List.swift:2: warning: @NSManaged List.items: the model says that the relationship is ordered") == true)
        #expect(found.warnings.last?.hasPrefix("List.swift:3: warning: @NSManaged func List.addToItems") == true)
        #expect(found.text.contains("Set(managedObjects(at: ") && found.text.contains("values.allObjects as? [NSManagedObject]"))
    }

    @Test func anOrderedSetOfARelationshipWithoutOrderIsServedWithAWarning() throws {
        let found = try writer("@NSManaged var items: NSOrderedSet?\n@NSManaged func addToItems(_ values: NSOrderedSet)", isOrdered: false)
        #expect(found.problems.isEmpty && found.warnings.count == 2 && found.text.contains("NSOrderedSet(array: managedObjects(at: "))
    }

    @Test func whatTheModelSaysHasNoWarning() throws {
        for (isOrdered, type) in [(true, "NSOrderedSet"), (false, "NSSet"), (false, "Set<Item>")] {
            let found = try writer("@NSManaged var items: \(type)?", isOrdered: isOrdered)
            #expect(found.problems.isEmpty && found.warnings.isEmpty)
        }
    }

    /// `@objc(addItems:) @NSManaged func addItems(_: NSSet)` without its attribute.
    @Test func functionsMayHaveTheNamesOfObjectiveC() throws {
        let functions = ["addItems(_ values: NSSet)", "removeItems(_ values: NSSet)", "addItemsObject(_ value: Item)", "removeItemsObject(_ value: Item)"]
        let found = try writer(functions.map { "@NSManaged func \($0)" }.joined(separator: "\n"), isOrdered: false)
        #expect(found.problems.isEmpty && found.warnings.isEmpty)
        for call in ["addManagedObjects(", "removeManagedObjects(", "addManagedObject(", "removeManagedObject("] {
            #expect(found.text.contains("{ \(call)"), "\(call)")
        }
        let own = "class Own: NSManagedObject {\n@NSManaged var items: NSSet?\n" + functions.map { "@NSManaged func \($0)\n" }.joined()
            + "@NSManaged func addPart(_ value: Own)\n}\nclass Item: NSManagedObject {}\n"
        let described = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "Own.swift", text: own)])
        #expect(described.problems.count == 1 && described.problems.first?.contains("Own.addPart") == true)
        #expect(described.text.contains("{ addManagedObjects(") && described.text.contains("{ removeManagedObject("))
    }

    @Test func functionsOfAClassThatNoModelNamesAreServedByTheirNames() {
        let source = "class Own: NSManagedObject {\n@NSManaged var URLs: NSSet?\n@NSManaged func addToURLs(_ value: Own)\n"
            + "@NSManaged func addToParts(_ values: NSSet)\n@NSManaged func shuffle(_ values: NSSet)\n}\n"
        let found = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: "Own.swift", text: source)])
        #expect(found.text.contains("\"URLs\", \"URLs\", \"parts\"") && found.text.contains("addManagedObject(value"))
        #expect(found.problems.count == 1 && found.problems.first?.contains("Own.shuffle") == true)
    }
}

import Foundation
import Testing

@testable import Heartwood

/// A class that no model names.
final class UnmodelledParent: NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
    var count: Int16 { value(forKey: "count") as? Int16 ?? 0 }
    var parent: UnmodelledParent? { primitiveValue(forKey: "parent") as? UnmodelledParent }
    var title: String { "\(name ?? "") \(count)" }
    var doubled: Int16 { count * 2 }
}

/// Parts that other people's suites use.
@Suite struct AbsentPartsTests {
    @Test("The key path of a class that no model names gives its key, for a model that is being made") func unmodelledKeyPaths() {
        #expect(NSExpression(forKeyPath: \UnmodelledParent.name).keyPath == "name")
        #expect(NSExpression(forKeyPath: \UnmodelledParent.count).keyPath == "count")
        // A computed one has no key. The model may be there when it is fetched.
        for expression in [NSExpression(forKeyPath: \UnmodelledParent.title), NSExpression(forKeyPath: \UnmodelledParent.doubled)] {
            #expect(expression.expressionType == .constantValue)
        }
        #expect(NSSortDescriptor(keyPath: \UnmodelledParent.name, ascending: true).key == "name")
    }

    @Test("A sort descriptor tells its key, and one with a comparator sorts arrays alone") func sortDescriptors() throws {
        #expect(NSSortDescriptor(key: "name", ascending: true).key == "name")
        #expect(NSSortDescriptor(key: "group.title", ascending: false).key == "group.title")
        #expect(NSSortDescriptor(key: nil, ascending: true).key == "self")
        let stack = try TestStack(.inMemory)
        #expect(NSSortDescriptor(keyPath: \Person.objectID, ascending: true).key != "name")
        for (name, age) in [("b", 1), ("a", 3), ("c", 2)] { stack.insert("Person", ["name": name, "age": age]) }
        stack.insert("Person", ["age": 4])
        try stack.context.save()
        let byLength = NSSortDescriptor(key: "age", ascending: false) { a, b in
            ((a as? NSNumber)?.intValue ?? 0) < ((b as? NSNumber)?.intValue ?? 0) ? .orderedAscending : .orderedDescending
        }
        #expect(byLength.key == "age" && !byLength.ascending)
        let people = try stack.fetch("Person")
        let sorted = people.sorted { byLength.compare($0, to: $1) == .orderedAscending }.map { $0.value(forKey: "age") as? Int }
        #expect(sorted == [4, 3, 2, 1])
        let nulls = NSSortDescriptor(key: "name", ascending: true) { a, b in
            a is NSNull ? .orderedDescending : b is NSNull ? .orderedAscending : ((a as? String) ?? "").compare((b as? String) ?? "")
        }
        #expect(people.sorted { nulls.compare($0, to: $1) == .orderedAscending }.map { $0.value(forKey: "name") as? String } == ["a", "b", "c", nil])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [byLength]
        let error = #expect(throws: NSError.self) { _ = try stack.context.fetch(request) }
        #expect(error?.localizedDescription.contains("comparator") == true)
    }

    @Test("A store of a program's own reads the keys by which a fetch is sorted") func keysInAStore() throws {
        final class Seen: DictionaryStore, @unchecked Sendable {
            var keys: [[String?]] = []
            override var type: String { "Seen" }
            override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
                if let fetch = request as? NSFetchRequest<any NSFetchRequestResult> { keys.append(fetch.sortDescriptors?.map(\.key) ?? []) }
                return try super.execute(request, with: context)
            }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Seen.self, forStoreType: "Seen")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try coordinator.addPersistentStore(ofType: "Seen", configurationName: nil, at: URL(string: "memory:"))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person"), context = coordinator.newContext()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true), NSSortDescriptor(key: "group.title", ascending: false)]
        _ = try context.fetch(request)
        #expect((store as? Seen)?.keys.first == ["name", "group.title"])
    }

    @Test("Mapping models with equal rules are equal, and a change makes them differ") func mappingModels() throws {
        func model(_ version: Int) -> NSManagedObjectModel {
            let entity = NSEntityDescription(), model = NSManagedObjectModel()
            entity.name = "A"
            entity.properties = (0..<version).map { number in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType) = ("x\(number)", .stringAttributeType)
                return attribute
            }
            model.entities = [entity]
            return model
        }
        func inferred(_ to: Int) throws -> NSMappingModel {
            try NSMappingModel.inferredMappingModel(forSourceModel: model(1), destinationModel: model(to))
        }
        let first = try inferred(2), second = try inferred(2)
        #expect(first == second && first.hash == second.hash && first !== second)
        #expect(try first != inferred(3) && NSMappingModel() == NSMappingModel() && first != NSMappingModel())
        second.entityMappings[0].attributeMappings?[0].valueExpression = NSExpression(forConstantValue: 1)
        #expect(first != second && first.entityMappings != second.entityMappings)
        let a = NSEntityMapping(), b = NSEntityMapping()
        #expect(a == b)
        for change in [
            { $0.name = "n" }, { $0.mappingType = .copyEntityMappingType }, { $0.sourceEntityName = "s" }, { $0.destinationEntityName = "d" },
            { $0.sourceEntityVersionHash = Data([1]) }, { $0.destinationEntityVersionHash = Data([1]) }, { $0.userInfo = ["a": 1] },
            { $0.entityMigrationPolicyClassName = "P" }, { $0.sourceExpression = NSExpression(forConstantValue: 1) },
            { $0.relationshipMappings = [NSPropertyMapping()] },
        ] as [(NSEntityMapping) -> Void] {
            let changed = NSEntityMapping()
            change(changed)
            #expect(changed != a)
        }
    }

    @Test("An object of no context has its class's entity, or none") func objectsOfNoContext() throws {
        let model = TestStack.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let person = withExtendedLifetime(coordinator) { Person() }
        #expect(person.managedObjectContext == nil && person.entity.name == "Person" && person.objectID.isTemporaryID)
        person.name = "Ada"
        #expect(person.name == "Ada" && !person.isInserted && person != Person())
        let nobody = UnmodelledParent()
        #expect(nobody.entity.name == nil && nobody.entity.properties.isEmpty && nobody.managedObjectContext == nil)
        #expect(NSManagedObject().entity.name == nil)
    }

    @Test("A property keeps whether Spotlight indexes it") func spotlight() {
        let attribute = NSAttributeDescription()
        #expect(!attribute.isIndexedBySpotlight)
        attribute.isIndexedBySpotlight = true
        #expect((attribute.copy() as? NSAttributeDescription)?.isIndexedBySpotlight == true)
    }

    @Test("A request of a class asks for other results by its type, and the error says how") func otherResults() throws {
        let stack = try TestStack(.inMemory)
        stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        let any: NSFetchRequest<any NSFetchRequestResult> = Person.fetchRequest()
        any.resultType = .dictionaryResultType
        any.propertiesToFetch = ["name"]
        #expect(try stack.context.fetch(any).count == 1)
        let own = Person.fetchRequest()
        own.resultType = .dictionaryResultType
        let error = #expect(throws: NSError.self) { _ = try stack.context.fetch(own) }
        #expect(error?.localizedDescription.contains("let request: NSFetchRequest<NSFetchRequestResult> = Person.fetchRequest()") == true)
    }

    @Test("An atomic store whose file names an object twice is not added") func repeatedNodes() throws {
        final class Twice: NSAtomicStore, @unchecked Sendable {
            override var type: String { "Twice" }
            override func load() throws {
                guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Tag"] else { return }
                let id = objectID(for: entity, withReferenceObject: "1")
                addCacheNodes([NSAtomicStoreCacheNode(objectID: id), NSAtomicStoreCacheNode(objectID: id)])
            }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Twice.self, forStoreType: "Twice")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model()), scratch = try ScratchDirectory()
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: "Twice", configurationName: nil, at: scratch["a"])
        }
        #expect(code(error) == NSPersistentStoreOpenError && coordinator.persistentStores.isEmpty)
    }

    @Test("Levels of undo below 0 are no limit") func undoLevels() {
        let undo = UndoManager()
        undo.groupsByEvent = false
        for levels in [-1, Int.min, 0, 1, Int.max] {
            undo.levelsOfUndo = levels
            undo.beginUndoGrouping()
            undo.registerUndo(withTarget: undo) { _ in }
            undo.endUndoGrouping()
            #expect(undo.canUndo)
        }
    }
}

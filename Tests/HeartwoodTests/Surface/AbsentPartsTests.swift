import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// A class that no model names.
final class UnmodelledParent: NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
    var count: Int16 { value(forKey: "count") as? Int16 ?? 0 }
    var parent: UnmodelledParent? { primitiveValue(forKey: "parent") as? UnmodelledParent }
    var title: String { "\(name ?? "") \(count)" }
    var doubled: Int16 { count * 2 }
}

/// Another one, with accessors as the plugin writes them.
final class UnmodelledNote: NSManagedObject {
    enum Size: Int {
        case small = 3, large
    }

    var made: Date { requiredValue(value(forKey: "made") as? Date, forKey: "made") }
    var size: Size { requiredValue(value(forKey: "size") as? Size, forKey: "size") }
    var marks: [String] { requiredValue(value(forKey: "marks") as? [String], forKey: "marks") }
    var weights: [Double]? { value(forKey: "weights") as? [Double] }
    var notes: [UnmodelledNote] { requiredValue(value(forKey: "notes") as? [UnmodelledNote], forKey: "notes") }
    var owner: UnmodelledParent { requiredValue(value(forKey: "owner") as? UnmodelledParent, forKey: "owner") }
    var next: UnmodelledNote { requiredValue(value(forKey: "next") as? UnmodelledNote, forKey: "next") }
    var last: UnmodelledNote? { value(forKey: "last") as? UnmodelledNote }
    var all: Set<UnmodelledNote> { value(forKey: "all") as? Set<UnmodelledNote> ?? [] }
    var year: Int { Calendar.current.component(.year, from: made) }
    var lengths: [Int] { marks.map(\.count) }
    var isOwned: Bool { owner.count > 0 }
    var ownerOfNext: String? { next.owner.name.map { $0 + "'s" } }
    var weight: Double { value(forKey: "weight") as? Double ?? 0 }
    var isKnown: Bool { value(forKey: "isKnown") as? Bool ?? true }
    var price: NSDecimalNumber { requiredValue(value(forKey: "price") as? NSDecimalNumber, forKey: "price") }
    var whole: Int32 { Int32(weight) }
    var nearest: Int { Int(weight.rounded()) }
    var isHeavy: Bool { weight > 0.5 }
    var isOdd: Bool { owner.count % 2 != 0 }
    var isLarge: Bool { size == .large }
    var smaller: Size { size == .small ? .large : .small }
    var ordered: [String] { marks.sorted() }
    var rounded: [Int]? { weights?.map { Int($0) } }
    var half: Decimal? { Decimal(weight) }
    var short: Float { Float(weight) }
    var wide: Int { Int(owner.count) }
}

/// Parts that other people's suites use.
@Suite struct AbsentPartsTests {
    @Test
    func `The key path of a class that no model names gives its key, for a model that is being made`() {
        #expect(NSExpression(forKeyPath: \UnmodelledParent.name).keyPath == "name")
        #expect(NSExpression(forKeyPath: \UnmodelledParent.count).keyPath == "count")
        // A computed one has no key. The model may be there when it is fetched.
        for expression in [NSExpression(forKeyPath: \UnmodelledParent.title), NSExpression(forKeyPath: \UnmodelledParent.doubled)] {
            #expect(expression.expressionType == .constantValue)
        }
        #expect(NSSortDescriptor(keyPath: \UnmodelledParent.name, ascending: true).key == "name")
    }

    /// A builder of predicates makes them before any model, of properties of all types. Several ended the program.
    @Test
    func `Key paths of such a class to dates, enumerations, lists and over relationships give their keys`() {
        #expect(NSExpression(forKeyPath: \UnmodelledNote.made).keyPath == "made")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.size).keyPath == "size")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.marks).keyPath == "marks")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.weights).keyPath == "weights")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.notes).keyPath == "notes")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.owner).keyPath == "owner")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.last).keyPath == "last")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.all).keyPath == "all")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.owner.name).keyPath == "owner.name")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.next.next.owner.count).keyPath == "next.next.owner.count")
        #expect(NSSortDescriptor(keyPath: \UnmodelledNote.made, ascending: true).key == "made")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.weight).keyPath == "weight")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.isKnown).keyPath == "isKnown")
        #expect(NSExpression(forKeyPath: \UnmodelledNote.price).keyPath == "price")
    }

    /// `owner.count > 0` was taken for `owner.count`: true, false and a count that is none of both passed.
    @Test
    func `A computed property of such a class has no key, whichever type it has`() {
        let paths: [(String, NSExpression)] = [
            ("year", NSExpression(forKeyPath: \UnmodelledNote.year)),
            ("lengths", NSExpression(forKeyPath: \UnmodelledNote.lengths)),
            ("isOwned", NSExpression(forKeyPath: \UnmodelledNote.isOwned)),
            ("ownerOfNext", NSExpression(forKeyPath: \UnmodelledNote.ownerOfNext)),
            ("whole", NSExpression(forKeyPath: \UnmodelledNote.whole)),
            ("nearest", NSExpression(forKeyPath: \UnmodelledNote.nearest)),
            ("isHeavy", NSExpression(forKeyPath: \UnmodelledNote.isHeavy)),
            ("isOdd", NSExpression(forKeyPath: \UnmodelledNote.isOdd)),
            ("isLarge", NSExpression(forKeyPath: \UnmodelledNote.isLarge)),
            ("smaller", NSExpression(forKeyPath: \UnmodelledNote.smaller)),
            ("ordered", NSExpression(forKeyPath: \UnmodelledNote.ordered)),
            ("rounded", NSExpression(forKeyPath: \UnmodelledNote.rounded)),
            ("half", NSExpression(forKeyPath: \UnmodelledNote.half)),
            ("short", NSExpression(forKeyPath: \UnmodelledNote.short)),
            ("wide", NSExpression(forKeyPath: \UnmodelledNote.wide)),
        ]
        for (name, expression) in paths { #expect(expression.expressionType == .constantValue, "\(name)") }
    }

    @Test
    func `The key path of an object to itself is the evaluated object`() throws {
        #expect(NSExpression(forKeyPath: \Person.self).expressionType == .evaluatedObject)
        #expect(NSExpression(forKeyPath: \Double.self) == NSExpression.expressionForEvaluatedObject())
        let stack = try TestStack(.inMemory), ann = stack.insert("Person", ["name": "ann"])
        stack.insert("Person", ["name": "bob"])
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: \Person.self), rightExpression: NSExpression(forConstantValue: ann), modifier: .direct,
            type: .equalTo)
        #expect(try stack.context.fetch(request) == [ann])
    }

    @Test
    func `A sort descriptor tells its key, and one with a comparator sorts arrays alone`() throws {
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

    @Test
    func `A store of a program's own reads the keys by which a fetch is sorted`() throws {
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

    @Test
    func `Mapping models with equal rules are equal, and a change makes them differ`() throws {
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

    @Test
    func `An object of no context has its class's entity, or none`() throws {
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

    @Test
    func `A property keeps whether Spotlight indexes it`() {
        let attribute = NSAttributeDescription()
        #expect(!attribute.isIndexedBySpotlight)
        attribute.isIndexedBySpotlight = true
        #expect((attribute.copy() as? NSAttributeDescription)?.isIndexedBySpotlight == true)
    }

    @Test
    func `A request of a class asks for other results by its type, and the error says how`() throws {
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

    @Test
    func `An atomic store whose file names an object twice is not added`() throws {
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

    @Test
    func `Levels of undo below 0 are no limit`() {
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

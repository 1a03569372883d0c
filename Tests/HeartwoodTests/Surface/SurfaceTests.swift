import Foundation
import Testing

@testable import Heartwood

final class MarkedThing: NSManagedObject {
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
}

final class UnmarkedThing: NSManagedObject {}

/// Members with Core Data's declarations, as used by code in Swift's language mode 6 and by code that inspects the stack.
struct SurfaceTests {
    private static func model(_ classes: [String: String] = ["Thing": "NSManagedObject"]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = classes.sorted { $0.key < $1.key }.map { name, className in
            let entity = NSEntityDescription(), size = NSAttributeDescription()
            entity.name = name
            entity.managedObjectClassName = className
            size.name = "size"
            size.attributeType = .integer64AttributeType
            size.isOptional = false
            entity.properties = [size]
            return entity
        }
        return model
    }

    private static func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test
    func `A fetch is an expression`() throws {
        let context = try Self.context(Self.model())
        context.performAndWait {
            for size in 1...3 {
                NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(size, forKey: "size")
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "size > 1")
            let fetch = NSExpression(forConstantValue: request), contextConstant = NSExpression(forConstantValue: context)
            let all = NSFetchRequestExpression.expression(forFetch: fetch, context: contextConstant, countOnly: false)
            let count = NSFetchRequestExpression.expression(forFetch: fetch, context: contextConstant, countOnly: true)
            #expect(all.expressionType == NSFetchRequestExpressionType && all is NSFetchRequestExpression)
            #expect((all.expressionValue(with: nil, context: nil) as? [NSManagedObject])?.count == 2)
            #expect(count.expressionValue(with: nil, context: nil) as? Int == 2)
            let stated = count as? NSFetchRequestExpression
            #expect(stated?.isCountOnlyRequest == true && (all as? NSFetchRequestExpression)?.isCountOnlyRequest == false)
            #expect(stated?.requestExpression.constantValue as? NSFetchRequest<NSManagedObject> === request)
            #expect(stated?.contextExpression.constantValue as? NSManagedObjectContext === context)
            let parsed = NSExpression(format: "FETCH(%@, %@, YES)", argumentArray: [request, context])
            #expect((parsed as? NSFetchRequestExpression)?.isCountOnlyRequest == true && parsed.expressionType == .fetchRequest)
            let isTwo = NSComparisonPredicate(
                leftExpression: count, rightExpression: NSExpression(forConstantValue: 2), modifier: .direct, type: .equalTo)
            #expect(isTwo.evaluate(with: nil))
        }
    }

    @Test
    func `A model knows the locations of its classes`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("surface-\(UUID().uuidString).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("<model><entity name=\"Watched\" representedClassName=\"WatchedTag\"/></model>".utf8)
            .write(to: folder.appendingPathComponent("contents"))
        // As in a call from that module.
        let model = try #require(NSManagedObjectModel(contentsOf: folder, fileID: "AppCodeTests/OverrideTests.swift"))
        let found = ManagedObjectClasses.resolve(try #require(model.entitiesByName["Watched"]))
        #expect(String(reflecting: found) == "AppCodeTests.WatchedTag")
    }

    @Test
    func `An unmodelled key changes an object if its class says so`() throws {
        let model = Self.model(["Marked": NSStringFromClass(MarkedThing.self), "Unmarked": NSStringFromClass(UnmarkedThing.self)])
        let context = try Self.context(model)
        try context.performAndWait {
            let marked = MarkedThing(context: context), unmarked = UnmarkedThing(context: context)
            for object in [marked, unmarked] as [NSManagedObject] {
                object.setValue(1, forKey: "size")
            }
            try context.save()
            for object in [marked, unmarked] as [NSManagedObject] {
                object.willChangeValue(forKey: "mood")
                object.didChangeValue(forKey: "mood")
            }
            #expect(marked.hasChanges && !unmarked.hasChanges)
        }
    }

    @Test
    func `Errors name properties as the model's dictionary does`() throws {
        let model = Self.model()
        let context = try Self.context(model)
        model.localizationDictionary = ["Entity/Thing": "Ding", "Property/size/Entity/Thing": "Größe"]
        context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            let error = #expect(throws: (any Error).self) { try context.save() }
            #expect(error?.localizedDescription == "Ding.Größe is a required value.")
        }
    }

    @Test
    func `A model can be archived`() throws {
        let model = Self.model()
        let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data)
        #expect(copy?.versionChecksum == model.versionChecksum && copy?.entitiesByName["Thing"]?.propertiesByName["size"]?.isOptional == false)
    }
}

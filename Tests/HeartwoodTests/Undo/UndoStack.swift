import Foundation

@_spi(GeneratedCode) @testable import Heartwood

extension TestStack {
    /// A stack whose context has an undo manager that groups by hand.
    static func undoing(_ kind: StoreKind, model: NSManagedObjectModel = TestStack.model()) throws -> TestStack {
        let stack = try TestStack(kind, model: model)
        stack.context.undoManager = UndoManager()
        stack.manager.groupsByEvent = false
        return stack
    }

    var manager: UndoManager { context.undoManager! }

    /// Makes one group of the changes in `body`.
    @discardableResult
    func group<T>(_ body: () throws -> T) rethrows -> T {
        manager.beginUndoGrouping()
        defer { manager.endUndoGrouping() }
        return try body()
    }

    /// Saves, and turns every object into a fault.
    func saveAndForget() throws {
        try context.save()
        context.refreshAllObjects()
    }

    /// The store's content, read by another context: each object by its ID, with its values and destinations.
    func stored() throws -> [String: [String: String]] {
        let context = newContext()
        var result: [String: [String: String]] = [:]
        for entity in coordinator.managedObjectModel.entities {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
            request.includesSubentities = false
            for object in try context.fetch(request) { result[object.objectID.uriRepresentation().absoluteString] = object.plain }
        }
        return result
    }
}

extension NSManagedObject {
    /// The object's values and destinations as text; members in order if the relationship is ordered.
    var plain: [String: String] {
        func name(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }
        var result: [String: String] = [:]
        for property in entity.properties {
            switch value(forKey: property.name) {
            case let object as NSManagedObject: result[property.name] = name(object)
            case let members as NSOrderedSet: result[property.name] = members.map { name($0 as! NSManagedObject) }.joined(separator: " ")
            case let members as NSSet:
                result[property.name] = members.map { name($0 as! NSManagedObject) }.sorted().joined(separator: " ")
            case let value?: result[property.name] = "\(value)"
            case nil: break
            }
        }
        return result
    }

    func members(_ key: String) -> [NSManagedObject] { managedObjects(at: propertyIndex(key)) }
}

import Foundation
import Testing

@testable import Heartwood

extension ProgrammerErrorTests {
    /// Further misuses that are refused in the same way.
    enum Misuse: String, CaseIterable, Codable, Sendable {
        case anAbstractEntity, anIDOfAnotherTree, anotherContextsObjectInserted, anotherContextsObjectDeleted, aSecondParent, noPolicy

        var message: String {
            switch self {
            case .anAbstractEntity: "The entity Shape is abstract; insert an object of one of its subentities instead."
            case .anIDOfAnotherTree: "does not belong to a store of this context's coordinator."
            case .anotherContextsObjectInserted: "The object belongs to another context; use object(with:) there."
            case .anotherContextsObjectDeleted: "An object is deleted in the context it belongs to; use object(with:) there."
            case .aSecondParent: "A context's parent is set once, before it is used and in place of a persistent store coordinator; make"
            case .noPolicy: "A context's merge policy is an NSMergePolicy, not String."
            }
        }

        func commit() throws {
            let stack = try TestStack(.inMemory)
            switch self {
            case .anAbstractEntity:
                let shape = NSEntityDescription(), square = NSEntityDescription()
                (shape.name, shape.isAbstract, square.name, shape.subentities) = ("Shape", true, "Square", [square])
                let model = NSManagedObjectModel()
                model.entities = [shape, square]
                let shapes = try TestStack(.inMemory, model: model)
                shapes.insert("Square", [:])
                shapes.insert("Shape", [:])
            case .anIDOfAnotherTree: _ = stack.anew().object(with: stack.insert("Person", [:]).objectID)
            case .anotherContextsObjectInserted: stack.anew().insert(stack.insert("Person", [:]))
            case .anotherContextsObjectDeleted: stack.anew().delete(stack.insert("Person", [:]))
            case .aSecondParent:
                let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                child.parent = stack.context
                child.parent = stack.context
                child.parent = stack.anew()
            case .noPolicy: stack.context.mergePolicy = "error"
            }
        }
    }

    @Test(arguments: Misuse.allCases)
    func `A misuse ends the process`(misuse: Misuse) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [misuse] in try misuse.commit() }
        #expect(says(result, misuse.message))
    }
}

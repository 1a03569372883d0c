import Foundation
import Testing

@testable import Heartwood

/// Objects that a program inserts, deletes before a save, and inserts again.
@Suite struct ReinsertionTests {
    enum Between: CaseIterable { case nothing, event, save, reset, rollback }

    /// Another object has its permanent ID, or none has; something happens before the deletion, and something after it.
    @Test(arguments: StoreKind.allCases, Between.allCases)
    func `An object that is inserted again is saved once`(kind: StoreKind, after: Between) throws {
        for before in [Between.nothing, .event] {
            for asksForIDs in [false, true] {
                let what = Comment(rawValue: "\(before), \(after), permanent IDs: \(asksForIDs)")
                let stack = try TestStack(kind), context = stack.context
                let ann = stack.insert("Person", ["name": "ann"]), bob = stack.insert("Person", ["name": "bob"])
                try run(before, context)
                if asksForIDs { try context.obtainPermanentIDs(for: [bob]) }
                context.delete(ann)
                try run(after, context)
                context.insert(ann)
                ann.setValue("Ann", forKey: "name")
                #expect(context.insertedObjects.contains(ann) && context.hasChanges, what)
                try context.save()
                let hasBob = ![.reset, .rollback].contains(after)
                #expect(try stack.fetch("Person", in: stack.anew()).compactMap { $0.text("name") }.sorted() == (hasBob ? ["Ann", "bob"] : ["Ann"]), what)
                ann.setValue("Anne", forKey: "name")
                #expect(context.updatedObjects == [ann], what)
                try context.save()
                context.delete(ann)
                try context.save()
                #expect(try stack.fetch("Person", in: stack.anew()).compactMap { $0.text("name") } == (hasBob ? ["bob"] : []), what)
            }
        }
    }

    private func run(_ step: Between, _ context: NSManagedObjectContext) throws {
        switch step {
        case .nothing: break
        case .event: context.processPendingChanges()
        case .save: try context.save()
        case .reset: context.reset()
        case .rollback: context.rollback()
        }
    }

    @Test
    func `The event in which an object is inserted again ends for it too`() throws {
        let stack = try TestStack(.inMemory), context = stack.context
        let ann = stack.insert("Person", ["name": "ann"])
        context.processPendingChanges()
        context.delete(ann)
        context.insert(ann)
        ann.setValue("Ann", forKey: "name")
        context.processPendingChanges()
        #expect(ann.changedValuesForCurrentEvent().isEmpty)
        ann.setValue(7, forKey: "age")
        #expect(Array(ann.changedValuesForCurrentEvent().keys) == ["age"])
    }
}

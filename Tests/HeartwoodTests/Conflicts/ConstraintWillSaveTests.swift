import Foundation
import Testing

@testable import Heartwood

/// Changes that a merge policy makes for a violated constraint get the same callbacks as the program's changes.
@Suite struct ConstraintWillSaveTests {
    /// Diarists with one title each, and their notes.
    private static func model() -> NSManagedObjectModel {
        let diarist = NSEntityDescription(), page = NSEntityDescription()
        diarist.name = "Diarist"
        diarist.managedObjectClassName = NSStringFromClass(Diarist.self)
        page.name = "Page"
        let note = TestStack.attribute("note", .stringAttributeType), count = TestStack.attribute("count", .integer32AttributeType)
        note.isTransient = true
        count.setValidationPredicates([NSPredicate(format: "SELF < 100")], withValidationWarnings: ["small"])
        let pages = TestStack.relationship("pages", to: page, toMany: true), owner = TestStack.relationship("owner", to: diarist, toMany: false)
        TestStack.connect(pages, owner)
        diarist.properties = [TestStack.attribute("title", .stringAttributeType), count, note, pages]
        diarist.uniquenessConstraints = [["title"]]
        page.properties = [owner]
        let model = NSManagedObjectModel()
        model.entities = [diarist, page]
        return model
    }

    /// A context with a new object that has a saved object's title, and the saved object.
    private func conflict(_ kind: StoreKind, _ policy: NSMergePolicy) throws -> (
        stack: TestStack, context: NSManagedObjectContext, old: Diarist, new: Diarist
    ) {
        let stack = try TestStack(kind, model: Self.model())
        let saved = stack.insert("Diarist", ["title": "a", "count": 1])
        try stack.context.save()
        let context = stack.anew(), old = context.own(saved) as! Diarist
        context.mergePolicy = policy
        #expect(old.title == "a")
        let new = stack.insert("Diarist", ["title": "a", "count": 2], into: context) as! Diarist
        stack.insert("Page", ["owner": new], into: context)
        _ = (old.look(), new.look())
        return (stack, context, old, new)
    }

    @Test(
        arguments: StoreKind.numbering,
        [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType])
    func `The row's object is notified of the save once`(kind: StoreKind, type: NSMergePolicyType) throws {
        let (stack, context, old, new) = try conflict(kind, NSMergePolicy(merge: type))
        try context.save()
        #expect(new.look() == ["saving"] && new.managedObjectContext == nil)
        #expect(old.look().filter { $0.hasPrefix("sav") } == ["saving", "saved false"])
        let isStoreFirst = type == .mergeByPropertyStoreTrumpMergePolicyType
        let stored = try #require(try stack.fetch("Diarist", in: stack.anew()).first)
        #expect(stored.value(forKey: "count") as? Int == (isStoreFirst ? 1 : 2) && stored.many("pages").count == 1)
    }

    @Test(arguments: StoreKind.numbering)
    func `A change in willSave is saved, and willSave is called again`(kind: StoreKind) throws {
        let (stack, context, old, _) = try conflict(kind, .mergeByPropertyObjectTrump)
        old.onWillSave = { if $0.value(forKey: "count") as? Int != 7 { $0.setValue(7, forKey: "count") } }
        try context.save()
        #expect(old.look().filter { $0.hasPrefix("sav") } == ["saving", "saving", "saved false"])
        #expect(try stack.fetch("Diarist", in: stack.anew()).map { $0.value(forKey: "count") as? Int } == [7])
    }

    @Test
    func `A change in willSave is validated`() throws {
        let (stack, context, old, _) = try conflict(.inMemory, .mergeByPropertyObjectTrump)
        old.onWillSave = { if $0.value(forKey: "count") as? Int != 700 { $0.setValue(700, forKey: "count") } }
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect((1550...1690).contains(error?.code ?? 0))
        #expect(try stack.fetch("Diarist", in: stack.anew()).map { $0.value(forKey: "count") as? Int } == [1])
        old.onWillSave = nil
        old.setValue(9, forKey: "count")
        try context.save()
        #expect(try stack.fetch("Diarist", in: stack.anew()).map { $0.value(forKey: "count") as? Int } == [9])
    }

    @Test
    func `A willSave that changes the object forever is an error`() throws {
        let (stack, context, old, _) = try conflict(.inMemory, .mergeByPropertyObjectTrump)
        old.onWillSave = { $0.setValue((($0.value(forKey: "count") as? Int) ?? 0) % 50 + 1, forKey: "count") }
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(
            error?.code == NSManagedObjectValidationError
                && (error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject])?.contains(old) == true)
        #expect(try stack.fetch("Diarist", in: stack.anew()).count == 1)
    }

    @Test
    func `A policy that throws calls willSave on no row's object`() throws {
        let (_, context, old, new) = try conflict(.inMemory, .error)
        #expect(throws: NSError.self) { try context.save() }
        #expect(old.look() == [] && new.look() == ["saving"])
    }
}

import Foundation
import Testing

@testable import Heartwood

@Suite struct ObjectTests {
    @Test(arguments: StoreKind.keepingEveryValue)
    func `Every attribute type comes back as it was saved`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let uuid = UUID(), date = Date(timeIntervalSinceReferenceDate: 123_456.75)
        let values: [String: Any] = [
            "int16": Int16.min, "int32": Int32.max, "int64": Int64.min, "double": -0.125, "float": Float(1.5),
            "decimal": NSDecimalNumber(string: "-12345678901234567890.0123456789"), "string": "Grüße, 世界 \u{0} 👋", "bool": true, "date": date,
            "data": Data([0, 1, 255]), "uuid": uuid, "uri": URL(string: "https://example.org/a?b=c")!, "transformable": ["a", "b"],
        ]
        stack.insert("Everything", values)
        let empty = stack.insert("Everything", [:])
        try stack.context.save()
        stack.context.reset()
        let found = try stack.fetch("Everything", "int16 != nil")
        let object = try #require(found.first)
        #expect(object.value(forKey: "int16") as? Int16 == .min)
        #expect(object.value(forKey: "int32") as? Int == Int(Int32.max))
        #expect(object.value(forKey: "int64") as? Int64 == .min)
        #expect(object.value(forKey: "double") as? Double == -0.125)
        #expect(object.value(forKey: "float") as? Float == 1.5)
        #expect(object.value(forKey: "decimal") as? NSDecimalNumber == values["decimal"] as? NSDecimalNumber)
        #expect(object.value(forKey: "string") as? String == values["string"] as? String)
        #expect(object.value(forKey: "bool") as? Bool == true)
        #expect(object.value(forKey: "date") as? Date == date)
        #expect(object.value(forKey: "data") as? Data == Data([0, 1, 255]))
        #expect(object.value(forKey: "uuid") as? UUID == uuid)
        #expect(object.value(forKey: "uri") as? URL == values["uri"] as? URL)
        #expect(object.value(forKey: "transformable") as? [String] == ["a", "b"])
        #expect(empty.managedObjectContext == nil)
        let other = try #require(try stack.fetch("Everything", "int16 == nil").first)
        for key in values.keys { #expect(other.value(forKey: key) == nil, "\(key)") }
    }

    @Test(arguments: StoreKind.allCases)
    func `An object goes through its states`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let context = stack.context
        #expect(!context.hasChanges)
        let person = Person(entity: NSEntityDescription.entity(forEntityName: "Person", in: context)!, insertInto: context)
        #expect(person.isInserted && person.hasChanges && !person.isFault && person.insertions == 1)
        #expect(person.age == 1, "the default value")
        #expect(person.objectID.isTemporaryID)
        #expect(context.insertedObjects == [person])
        person.name = "Ada"
        try context.save()
        #expect(!person.isInserted && !person.hasChanges && !context.hasChanges)
        #expect(!person.objectID.isTemporaryID)
        #expect(person.name == "Ada")
        person.age = 36
        #expect(person.isUpdated && context.updatedObjects == [person])
        #expect(person.changedValues().keys.sorted() == ["age"])
        #expect(person.committedValues(forKeys: ["age"])["age"] as? Int == 1)
        context.rollback()
        #expect(person.age == 1 && !person.hasChanges)
        context.delete(person)
        #expect(person.isDeleted && context.deletedObjects == [person])
        context.rollback()
        #expect(!person.isDeleted && person.name == "Ada")
        context.delete(person)
        try context.save()
        #expect(person.managedObjectContext == nil)
        #expect(try stack.fetch("Person").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `A context has one instance of an object`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        #expect(try stack.fetch("Person").first === person)
        #expect(stack.context.object(with: person.objectID) === person)
        #expect(stack.context.registeredObject(for: person.objectID) === person)
        let url = person.objectID.uriRepresentation()
        let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: url))
        #expect(id == person.objectID)
        let other = stack.newContext()
        let twin = try other.existingObject(with: id)
        #expect(twin !== person && twin.objectID == person.objectID)
        other.delete(twin)
        try other.save()
        #expect(throws: (any Error).self) { try stack.newContext().existingObject(with: id) }
    }

    @Test(arguments: StoreKind.planning)
    func `A fault reads its row only when it is used`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let id = stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        let context = stack.newContext()
        let before = stack.rowReads
        let person = context.object(with: id.objectID) as! Person
        #expect(person.isFault && stack.rowReads == before && person.fetches == 0)
        #expect(person.name == "Ada")
        #expect(!person.isFault && stack.rowReads == before + 1 && person.fetches == 1)
        #expect(person.age == 1)
        #expect(stack.rowReads == before + 1 && person.fetches == 1)
        context.refresh(person, mergeChanges: false)
        #expect(person.isFault)
        #expect(person.name == "Ada" && person.fetches == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `Unchanged objects are released`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for number in 0..<3000 { stack.insert("Person", ["name": "\(number)"]) }
        try stack.context.save()
        let kept = try stack.fetch("Person", "name == '7'")
        _ = try stack.fetch("Person")
        stack.context.identities.sweep()
        #expect(stack.context.identities.count == 1)
        #expect(stack.context.identities.checkInvariants())
        #expect(try stack.fetch("Person", "name == '7'").first === kept.first)
    }

    @Test(arguments: StoreKind.allCases)
    func `A save that conflicts reports it and changes nothing`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let mine = stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        let other = stack.newContext()
        let theirs = try other.existingObject(with: mine.objectID)
        #expect(mine.value(forKey: "name") as? String == "Ada")
        theirs.setValue("Grace", forKey: "name")
        try other.save()
        mine.setValue("Edsger", forKey: "name")
        let error = #expect(throws: (any Error).self) { try stack.context.save() }
        #expect((error as? NSError)?.code == NSManagedObjectMergeError)
        #expect(stack.context.hasChanges)
        stack.context.rollback()
        #expect(mine.value(forKey: "name") as? String == "Ada", "a rollback reads nothing anew")
        stack.context.refresh(mine, mergeChanges: false)
        #expect(mine.value(forKey: "name") as? String == "Grace")
    }

    @Test(arguments: StoreKind.allCases)
    func `A unique value can be taken once`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ada = stack.insert("Person", ["name": "Ada", "email": "ada@example.org"])
        stack.insert("Person", ["name": "Nobody"])
        stack.insert("Person", ["name": "Nobody else"])
        try stack.context.save()
        let copy = stack.insert("Person", ["name": "Copy", "email": "ada@example.org"])
        let error = #expect(throws: (any Error).self) { try stack.context.save() }
        #expect((error as? NSError)?.code == NSManagedObjectConstraintMergeError)
        copy.setValue("other@example.org", forKey: "email")
        stack.insert("Person", ["email": "other@example.org"])
        #expect(throws: (any Error).self) { try stack.context.save() }
        stack.context.rollback()
        // The value changes hands in one save: the old holder is deleted.
        stack.context.delete(ada)
        stack.insert("Person", ["name": "New", "email": "ada@example.org"])
        try stack.context.save()
        #expect(try stack.names("email == 'ada@example.org'") == ["New"])
    }

    @Test(arguments: StoreKind.allCases)
    func `All missing values are reported at once`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        stack.insert("Group", [:])
        let single = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(single?.code == NSValidationMissingMandatoryPropertyError)
        #expect(single?.userInfo[NSValidationKeyErrorKey] as? String == "title")
        stack.insert("Group", [:])
        let several = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(several?.code == NSValidationMultipleErrorsError)
        #expect((several?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
    }

    @Test
    func `A record log is the same after it is opened again`() throws {
        let stack = try TestStack(.recordLog)
        let group = stack.insert("Group", ["title": "Readers"])
        for number in 0..<100 { stack.insert("Person", ["name": "\(number)", "group": group]) }
        try stack.context.save()
        let uri = group.objectID.uriRepresentation()
        try stack.coordinator.remove(stack.coordinator.persistentStores[0])
        let again = try TestStack(.recordLog, at: stack.url)
        let id = try #require(again.coordinator.managedObjectID(forURIRepresentation: uri))
        let found = again.context.object(with: id)
        #expect(found.value(forKey: "title") as? String == "Readers")
        #expect((found.value(forKey: "people") as? NSSet)?.count == 100)
        let other = NSManagedObjectModel()
        let error = #expect(throws: (any Error).self) { try TestStack(.recordLog, model: other, at: stack.url) } as? NSError
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error?.localizedDescription.contains("only in the store") == true)
    }

    @Test
    func `An SQLite store without a file is refused`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let error = #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: nil)
        } as? NSError
        #expect(error?.code == NSPersistentStoreOpenError)
        #expect(error?.localizedDescription.contains("needs a file URL") == true)
    }

    /// All such objects of an entity had one ID, which claimed to be permanent.
    @Test
    func `Objects without a context have temporary IDs of their own`() throws {
        let stack = try TestStack(.inMemory)
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Tag", in: stack.context))
        let one = NSManagedObject(entity: entity, insertInto: nil), other = NSManagedObject(entity: entity, insertInto: nil)
        let id = other.objectID
        #expect(one.objectID != id && one.objectID == one.objectID && one.objectID.isTemporaryID)
        #expect(one.objectID.uriRepresentation() != id.uriRepresentation())
        stack.context.insert(one)
        try stack.context.save()
        #expect(!one.objectID.isTemporaryID && other.objectID == id && stack.context.registeredObject(for: id) == nil)
        #expect(throws: (any Error).self) { try stack.context.existingObject(with: id) }
    }
}

import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The content of transactions and changes.
@Suite struct HistoryTests {
    @Test(arguments: StoreKind.recording)
    func `Each save leaves a transaction with its changes`(_ kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        stack.context.transactionAuthor = "importer"
        stack.context.name = "background"
        let before = Date()
        let ada = stack.insert("Person", ["name": "Ada"]), group = stack.insert("Group", ["title": "g"])
        try stack.context.save()
        stack.context.transactionAuthor = nil
        ada.setValue(36, forKey: "age")
        ada.setValue("Ada L.", forKey: "name")
        try stack.context.save()
        stack.context.delete(group)
        try stack.context.save()
        let found = try stack.transactions()
        // A store of PostgreSQL has the numbers of its server's transactions.
        let numbers = found.map(\.transactionNumber)
        #expect(numbers == [1, 2, 3] || kind == .postgreSQL && numbers == numbers.sorted() && Set(numbers).count == 3)
        #expect(found.map(\.author) == ["importer", nil, nil] && found.map(\.contextName) == ["background", "background", "background"])
        #expect(found.allSatisfy { $0.storeID == stack.persistentStore.identifier && $0.processID == ProcessInfo.processInfo.processName })
        #expect(found.allSatisfy { $0.bundleID == Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName })
        #expect(found[0].timestamp >= before && found[0].timestamp < found[1].timestamp && found[2].timestamp <= Date() + 1)
        #expect(try stack.changes() == ["insert Group 1", "insert Person 1", "update Person 1: age, name", "delete Group 1"])
        #expect(Set(found[0].changes?.map(\.changedObjectID) ?? []) == [ada.objectID, group.objectID])
        let ids = found.flatMap { $0.changes ?? [] }.map(\.changeID)
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(found[1].changes?[0].transaction == found[1])
        #expect(found[0].changes?[0].tombstone == nil && found[0].changes?[0].updatedProperties == nil)
    }

    @Test
    func `A store without the option has no history and no bytes for it`() throws {
        func bytes(_ options: [String: Any]) throws -> (creation: UInt64, save: UInt64) {
            let stack = try TestStack(.inMemory, options: options)
            let creation = stack.bytesAppended
            stack.insert("Person", ["name": "Ada"])
            try stack.context.save()
            return (creation, stack.bytesAppended - creation)
        }
        let plain = try bytes([:]), tracked = try bytes([NSPersistentHistoryTrackingKey: true])
        // The size before histories existed.
        #expect(plain.save == 192)
        // One transaction with the process's name; all of it is in the save's own frame.
        #expect(tracked.save <= plain.save + 64, "\(tracked.save)")
        let stack = try TestStack(.inMemory)
        stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        #expect(stack.token == nil && stack.store.log?.snapshot().catalog.table(named: RecordLogNames.history) == nil)
        let error = #expect(throws: NSError.self) { try stack.transactions() }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }

    @Test(arguments: StoreKind.recording)
    func `An object that is inserted and changed in one save counts as inserted`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let person = stack.insert("Person", ["name": "A"])
        try stack.context.obtainPermanentIDs(for: [person])
        person.setValue("B", forKey: "name")
        stack.context.processPendingChanges()
        person.setValue("C", forKey: "name")
        let gone = stack.insert("Person", ["name": "gone"])
        stack.context.delete(gone)
        try stack.context.save()
        #expect(try stack.changes() == ["insert Person 1"])
    }

    @Test(arguments: StoreKind.recording)
    func `A save that changes no object leaves nothing`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let person = stack.insert("Person", ["name": "A"])
        try stack.context.save()
        let token = stack.token
        stack.coordinator.setMetadata(["key": "value"], for: stack.persistentStore)
        try stack.context.obtainPermanentIDs(for: [stack.insert("Group", ["title": "later"])])
        stack.context.rollback()
        person.setValue("A", forKey: "name")
        try stack.context.save()
        #expect(try stack.transactions(after: token).isEmpty && stack.token == token)
    }

    @Test(arguments: StoreKind.recording)
    func `The history has both sides of a relationship`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let ada = stack.insert("Person", ["name": "Ada"]), bob = stack.insert("Person", ["name": "Bob"])
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let first = stack.insert("Task", ["title": "1"]), second = stack.insert("Task", ["title": "2"])
        try stack.context.save()
        func told(_ change: () -> Void) throws -> [String] {
            let token = stack.token
            change()
            try stack.context.save()
            return try stack.changes(after: token)
        }
        // One to many: the column, and the members.
        #expect(try told { ada.setValue(group, forKey: "group") } == ["update Group 1: people", "update Person 1: group"])
        // Many to many.
        #expect(try told { tag.mutableSetValue(forKey: "people").add(bob) } == ["update Person 2: tags", "update Tag 1: people"])
        // An order: members are added and moved.
        #expect(try told { ada.setValue(NSOrderedSet(array: [first, second]), forKey: "tasks") }
            == ["update Person 1: tasks", "update Task 1: owner", "update Task 2: owner"])
        #expect(try told { ada.setValue(NSOrderedSet(array: [second, first]), forKey: "tasks") } == ["update Person 1: tasks"])
        #expect(try told { ada.setValue(bob, forKey: "partner") } == ["update Person 1: partner", "update Person 2: partner"])
        // Together with an attribute it is one change.
        #expect(try told {
            bob.setValue("Bo", forKey: "name")
            bob.mutableSetValue(forKey: "tags").remove(tag)
        } == ["update Person 2: name, tags", "update Tag 1: people"])
    }

    @Test(arguments: StoreKind.recording)
    func `The history of a deletion has its consequences`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let ada = stack.insert("Person", ["name": "Ada"]), tag = stack.insert("Tag", ["label": "t"])
        let group = stack.insert("Group", ["title": "g"])
        ada.setValue(group, forKey: "group")
        ada.mutableSetValue(forKey: "tags").add(tag)
        ada.setValue(NSOrderedSet(array: [stack.insert("Task", ["title": "1"]), stack.insert("Task", ["title": "2"])]), forKey: "tasks")
        try stack.context.save()
        let token = stack.token
        stack.context.delete(ada)
        try stack.context.save()
        #expect(try stack.changes(after: token)
            == ["update Group 1: people", "delete Person 1", "update Tag 1: people", "delete Task 1", "delete Task 2"])
    }

    /// A context that has not seen another's commit deletes an object from under a relationship that it does not know.
    @Test(arguments: StoreKind.recording)
    func `The history has an owner that the context does not know`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let ada = stack.insert("Person", ["name": "Ada"]), group = stack.insert("Group", ["title": "g"])
        try stack.context.save()
        let late = stack.anew()
        late.mergePolicy = NSMergePolicy.overwrite
        let same = try late.existingObject(with: ada.objectID)
        #expect(same.value(forKey: "group") == nil)
        ada.setValue(group, forKey: "group")
        try stack.context.save()
        let token = stack.token
        late.delete(same)
        try late.save()
        #expect(try stack.changes(after: token) == ["update Group 1: people", "delete Person 1"])
    }

    @Test(arguments: StoreKind.recording)
    func `A tombstone has the attributes that the model preserves`(kind: StoreKind) throws {
        let model = TestStack.model()
        let everything = try #require(model.entitiesByName["Everything"])
        for case let attribute as NSAttributeDescription in everything.properties where attribute.name != "int16" {
            attribute.preservesValueInHistoryOnDeletion = true
        }
        (everything.propertiesByName["data"] as? NSAttributeDescription)?.allowsExternalBinaryDataStorage = true
        let stack = try TestStack.tracking(kind, model: model)
        let large = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let values: [String: Any] = [
            "int16": 1, "int32": 2, "int64": 3, "double": 0.5, "decimal": NSDecimalNumber(string: "12.5"), "string": "ä", "bool": true,
            "date": Date(timeIntervalSinceReferenceDate: 1.5), "data": large, "uuid": UUID(), "uri": URL(string: "https://example.org/a")!,
            "transformable": "text" as NSString,
        ]
        let full = stack.insert("Everything", values), empty = stack.insert("Everything", [:])
        try stack.context.save()
        let token = stack.token
        stack.context.delete(full)
        stack.context.delete(empty)
        try stack.context.save()
        let changes = try #require(try stack.transactions(after: token).first?.changes)
        #expect(changes.map(\.words) == ["delete Everything 1", "delete Everything 2"])
        let tombstone = try #require(changes[0].tombstone)
        #expect(Set(tombstone.keys.compactMap { $0 as? String }) == Set(values.keys).subtracting(["int16"]))
        #expect(tombstone["data"] as? Data == large && tombstone["string"] as? String == "ä" && tombstone["int64"] as? Int == 3)
        #expect(tombstone["uuid"] as? UUID == values["uuid"] as? UUID && tombstone["uri"] as? URL == values["uri"] as? URL)
        #expect(tombstone["decimal"] as? NSDecimalNumber == NSDecimalNumber(string: "12.5") && tombstone["bool"] as? Bool == true)
        #expect(tombstone["transformable"] as? String == "text" && tombstone["date"] as? Date == values["date"] as? Date)
        #expect(changes[1].tombstone == nil)
    }

    @Test(arguments: StoreKind.recording)
    func `A transaction's notification brings a context up to date`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let ada = stack.insert("Person", ["name": "Ada"]), bob = stack.insert("Person", ["name": "Bob"])
        try stack.context.save()
        let token = stack.token
        let readers = [stack.newContext(), stack.newContext()]
        let people = try readers.map { try stack.fetch("Person", in: $0) }
        #expect(people.joined().compactMap { $0.value(forKey: "name") as? String }.count == 4)
        ada.setValue("changed", forKey: "name")
        stack.context.delete(bob)
        stack.insert("Person", ["name": "new"])
        try stack.context.save()
        let transaction = try #require(try stack.transactions(after: token).first)
        let notification = transaction.objectIDNotification()
        #expect(notification.name == NSManagedObjectContext.didSaveObjectIDsNotification)
        #expect(notification.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [bob.objectID])
        readers[0].mergeChanges(fromContextDidSave: notification)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: notification.userInfo ?? [:], into: [readers[1]])
        for reader in readers {
            let object = try #require(reader.registeredObject(for: ada.objectID))
            #expect(object.value(forKey: "name") as? String == "changed")
            #expect(reader.deletedObjects.map(\.objectID) == [bob.objectID])
            // A merged object is no conflict.
            object.setValue(7, forKey: "age")
            try reader.save()
            stack.context.refreshAllObjects()
        }
        #expect(people.allSatisfy { $0.count == 2 })
    }

    @Test
    func `The history has derived attributes`() throws {
        let stack = try TestStack.tracking(model: ClubModel.make())
        let club = stack.insert("Club", ["name": "chess"])
        try stack.context.save()
        let token = stack.token
        let member = stack.insert("Member", ["name": "A", "dues": 3])
        member.setValue(club, forKey: "club")
        try stack.context.save()
        let words = try stack.changes(after: token)
        #expect(words.contains { $0.hasPrefix("insert Member") })
        let update = try #require(words.first { $0.hasPrefix("update Club") })
        #expect(update.contains("memberCount"), "\(update)")
    }

    @Test(arguments: StoreKind.recording)
    func `The history has an object that takes a stored one's unique value`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        stack.insert("Person", ["name": "A", "email": "a@b"])
        try stack.context.save()
        let before = stack.token
        let second = stack.newContext()
        second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stack.insert("Person", ["name": "B", "email": "a@b"], into: second)
        try second.save()
        let told = try stack.changes(after: before)
        #expect(told.count == 1 && told[0].hasPrefix("update Person 1: ") && told[0].contains("name"), "\(told)")
    }

    @Test(arguments: StoreKind.recording)
    func `An undone deletion is an insertion`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        stack.context.undoManager = UndoManager()
        let person = stack.insert("Person", ["name": "A"])
        try stack.context.save()
        stack.context.undoManager?.removeAllActions()
        let token = stack.token
        stack.context.delete(person)
        try stack.context.save()
        stack.context.undo()
        try stack.context.save()
        #expect(try stack.changes(after: token) == ["delete Person 1", "insert Person 1"])
    }

    @Test(arguments: StoreKind.recording)
    func `The history has a composite as one property`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind, model: try ModelTests.load("""
            <entity name="Home">
              <attribute name="name" optional="YES" attributeType="String"/>
              <attribute name="place" optional="YES" attributeType="Composite" composite="Place" preserveAfterDeletion="YES"/>
            </entity>
            <composite name="Place">
              <attribute name="x" optional="YES" attributeType="Double"/>
              <attribute name="y" optional="YES" attributeType="Double"/>
            </composite>
            """))
        let home = stack.insert("Home", ["name": "A", "place": ["x": 1.5, "y": 2.0]])
        try stack.context.save()
        home.setValue(3.0, forKeyPath: "place.y")
        try stack.context.save()
        stack.context.delete(home)
        try stack.context.save()
        let changes = try stack.transactions().flatMap { $0.changes ?? [] }
        #expect(changes.map(\.words) == ["insert Home 1", "update Home 1: place", "delete Home 1"])
        #expect(changes[2].tombstone?["place"] as? [String: Double] == ["x": 1.5, "y": 3] && changes[2].tombstone?.count == 1)
    }

    @Test(arguments: StoreKind.recording)
    func `A child asks the stores of its root`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        (stack.context.name, stack.context.transactionAuthor) = ("root", "r")
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        (child.name, child.transactionAuthor) = ("child", "c")
        NSEntityDescription.insertNewObject(forEntityName: "Employee", into: child).setValue("A", forKey: "name")
        try child.save()
        #expect(try stack.transactions().isEmpty)
        try stack.context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let found = try (child.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
        #expect(found?.map(\.contextName) == ["root"] && found?.map(\.author) == ["r"])
        #expect(found?.first?.changes?.map(\.words) == ["insert Employee 1"])
    }

    @Test
    func `Saves over two stores are in both histories`() throws {
        let pair = try StorePair(
            (.recordLog, .recordLog), configurations: ("Books", "Feedback"),
            options: ([NSPersistentHistoryTrackingKey: true], [NSPersistentHistoryTrackingKey: true]))
        pair.insert("Book", ["title": "b"])
        pair.insert("Feedback", ["title": "f"])
        try pair.context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let all = try #require((pair.context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
        #expect(all.count == 2 && Set(all.map(\.storeID)) == Set([pair.first.identifier, pair.second.identifier]))
        #expect(all[0].timestamp <= all[1].timestamp && all.allSatisfy { $0.changes?.count == 1 })
        request.affectedStores = [pair.second]
        let one = try #require((pair.context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
        #expect(one.map(\.storeID) == [pair.second.identifier])
        let token = try #require(pair.coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(token.positions.count == 2 && pair.coordinator.currentPersistentHistoryToken(fromStores: [pair.first])?.positions.count == 1)
        let direct = try pair.coordinator.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token), with: pair.context)
        #expect(((direct as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])?.isEmpty == true)
    }
}

import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct BatchInsertTests {
    @Test(arguments: StoreKind.batching)
    func `Dictionaries become objects with the model's defaults`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"])
        try stack.context.save()
        let ids = try stack.insertBatch([
            ["name": "a", "age": 30, "email": "a@x", "group": group.objectID], ["name": "b"], ["name": "c", "age": NSNull()],
        ])
        #expect(ids.count == 3 && ids.allSatisfy { !$0.isTemporaryID && $0.entity.name == "Person" && $0.persistentStore === stack.persistentStore })
        #expect(try stack.stored("Person", "age") == ["a": "30", "b": "1", "c": "nil"])
        let context = stack.anew()
        let a = try context.existingObject(with: ids[0])
        #expect(a.value(forKey: "email") as? String == "a@x" && a.value(forKeyPath: "group.title") as? String == "g")
        #expect(((context.object(with: group.objectID)).value(forKey: "people") as? NSSet)?.count == 1, "the other side is an index")
        a.setValue("z", forKey: "name")
        try context.save()
        #expect(try stack.names() == ["b", "c", "z"])
    }

    @Test(arguments: StoreKind.batching)
    func `A row without a required value is 1570, and nothing is inserted`(kind: StoreKind) throws {
        let stars = TestStack.attribute("stars", .integer32AttributeType, optional: false),
            title = TestStack.attribute("title", .stringAttributeType)
        let given = TestStack.attribute("given", .stringAttributeType, optional: false, default: "d")
        let entity = NSEntityDescription()
        entity.name = "Note"
        entity.properties = [title, stars, given]
        entity.uniquenessConstraints = [["title"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try TestStack(kind, model: model)
        for rows in [
            [["title": "a"]], [["title": "a", "stars": 1], ["title": "b", "stars": NSNull()]], [["stars": 1, "given": NSNull()]],
        ] as [[[String: Any]]] {
            for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .overwrite] {
                let error = #expect(throws: (any Error).self) { try stack.insertBatch(rows, into: "Note", policy: policy) } as NSError?
                #expect(error?.code == NSValidationMissingMandatoryPropertyError && error?.domain == NSCocoaErrorDomain)
                #expect(["stars", "given"].contains(error?.userInfo[NSValidationKeyErrorKey] as? String))
                #expect(try stack.fetch("Note").isEmpty)
            }
        }
        #expect(try stack.insertBatch([["title": "a", "stars": 1]], into: "Note").count == 1)
        // An existing row keeps the values that the batch does not name.
        _ = try stack.insertBatch([["title": "a", "given": "e"]], into: "Note", policy: .mergeByPropertyObjectTrump)
        let note = try #require(try stack.fetch("Note", in: stack.anew()).first)
        #expect(note.value(forKey: "stars") as? Int == 1 && note.value(forKey: "given") as? String == "e")
    }

    @Test(arguments: StoreKind.batching)
    func `Every kind of attribute is kept`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let uuid = UUID()
        let row: [String: Any] = [
            "int16": -7, "int32": 1 << 20, "int64": Int64.min, "double": 0.1, "float": Float(0.5), "decimal": Decimal(string: "12.34")!,
            "string": "ü", "bool": true, "date": Date(timeIntervalSinceReferenceDate: 5), "data": Data([1, 2]), "uuid": uuid,
            "uri": URL(string: "x:y")!, "transformable": ["k": "v"] as NSDictionary,
        ]
        let id = try #require(try stack.insertBatch([row], into: "Everything").first)
        let object = try stack.anew().existingObject(with: id)
        #expect(object.value(forKey: "int64") as? Int64 == .min && object.value(forKey: "decimal") as? Decimal == Decimal(string: "12.34"))
        #expect(object.value(forKey: "uuid") as? UUID == uuid && object.value(forKey: "data") as? Data == Data([1, 2]))
        #expect(object.value(forKey: "uri") as? URL == URL(string: "x:y") && object.value(forKey: "bool") as? Bool == true)
        #expect((object.value(forKey: "transformable") as? NSDictionary)?["k"] as? String == "v")
    }

    @Test(arguments: StoreKind.batching)
    func `A handler supplies rows until it says that there are no more`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        var number = 0
        let byDictionary = NSBatchInsertRequest(entityName: "Person", dictionaryHandler: { row in
            guard row.count == 0, number < 3 else { return true }
            row["name"] = "d\(number)"
            if number == 1 { row["age"] = 50 }
            number += 1
            return false
        })
        byDictionary.resultType = .count
        #expect((try stack.context.execute(byDictionary) as? NSBatchInsertResult)?.result as? Int == 3)
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Employee"])
        let byObject = NSBatchInsertRequest(entity: entity, managedObjectHandler: { object in
            guard let person = object as? Person, number < 6 else { return true }
            if person.insertions > 0 || person.age != 1 || person.managedObjectContext != nil { return true }
            person.name = "o\(number)"
            if number == 4 { person.age = 60 }
            number += 1
            return false
        })
        let result = try #require(try stack.context.execute(byObject) as? NSBatchInsertResult)
        #expect(result.result as? Bool == true && result.resultType == .statusOnly && byObject.requestType == .batchInsertRequestType)
        #expect(try stack.stored("Person", "age") == ["d0": "1", "d1": "50", "d2": "1", "o3": "1", "o4": "60", "o5": "1"])
        #expect(try stack.fetch("Employee").count == 3 && stack.context.registeredObjects.allSatisfy { !$0.hasChanges })
    }

    @Test(arguments: StoreKind.batching)
    func `A value that does not fit throws and changes nothing`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let unsaved = stack.insert("Group", ["title": "g"])
        for (row, key) in [
            (["nme": "x"], "nme"), (["age": "old"], "age"), (["tags": []], "tags"), (["partner": NSNull()], "partner"),
            (["group": unsaved.objectID], "group"), (["group": "g"], "group"),
        ] as [([String: Any], String)] {
            let error = #expect(throws: NSError.self) { try stack.insertBatch([["name": "a"], row]) }
            #expect(error?.code == NSManagedObjectValidationError && error?.userInfo[NSValidationKeyErrorKey] as? String == key)
        }
        #expect(throws: NSError.self) { try stack.insertBatch([["name": "a"]], into: "Nobody") }
        #expect(try stack.fetch("Person", in: stack.anew()).isEmpty)
    }

    @Test(arguments: StoreKind.batching)
    func `The merge policy decides about unique values`(kind: StoreKind) throws {
        let rows: [[String: Any]] = [
            ["name": "new", "email": "a@x"], ["name": "b1", "email": "b@x", "age": 5], ["name": "b2", "email": "b@x"],
            ["name": "c"], ["name": "d"],
        ]
        func fill(_ policy: NSMergePolicy) throws -> (TestStack, NSManagedObjectID, [NSManagedObjectID]?) {
            let stack = try TestStack(kind)
            // The constraint is inherited: the holder belongs to another entity of the family.
            let old = stack.insert("Employee", ["name": "old", "email": "a@x", "age": 9, "salary": 7])
            old.setValue(stack.insert("Group", ["title": "g"]), forKey: "group")
            try stack.context.save()
            return (stack, old.objectID, try? stack.insertBatch(rows, policy: policy))
        }
        let (refused, _, none) = try fill(.error)
        #expect(none == nil)
        #expect(try refused.stored("Person", "age") == ["old": "9"])
        let error = #expect(throws: NSError.self) { try refused.insertBatch(rows) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        let (merged, old, ids) = try fill(.mergeByPropertyObjectTrump)
        #expect(try merged.stored("Person", "age") == ["new": "9", "b2": "5", "c": "1", "d": "1"], "what a row does not name stays")
        #expect(ids?.count == 4 && ids?.contains(old) == true)
        #expect(try merged.anew().existingObject(with: old).value(forKeyPath: "group.title") as? String == "g")
        let (replaced, replacedID, _) = try fill(.overwrite)
        #expect(try replaced.stored("Person", "age") == ["new": "1", "b2": "1", "c": "1", "d": "1"])
        #expect(try replaced.anew().existingObject(with: replacedID).value(forKeyPath: "group.title") as? String == "g")
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .rollback] {
            let (kept, _, ids) = try fill(policy)
            #expect(try kept.stored("Person", "age") == ["old": "9", "b1": "5", "c": "1", "d": "1"])
            #expect(ids?.count == 3)
        }
    }

    /// Rows are written in groups: the two may be in one group, next to each other, or apart.
    @Test(arguments: StoreKind.batching)
    func `Two rows with one unique value are refused wherever they are in the batch`(kind: StoreKind) throws {
        for isEmpty in [true, false] {
            let stack = try TestStack(kind)
            if !isEmpty { try stack.insertBatch([["name": "old", "email": "old@x"]]) }
            for (first, second) in [(0, 1), (0, 15), (0, 16), (14, 15), (15, 16), (3, 37), (31, 32), (0, 39)] {
                var rows: [[String: Any]] = (0..<40).map { ["name": "\($0)", "email": "\($0)@x"] }
                rows[second]["email"] = "\(first)@x"
                let error = #expect(throws: NSError.self) { try stack.insertBatch(rows) }
                #expect(error?.code == NSManagedObjectConstraintMergeError, "\(first), \(second)")
            }
            #expect(try stack.stored("Person", "email") == (isEmpty ? [:] : ["old": "old@x"]))
        }
    }

    /// The first of two invalid rows gives the error, in one group or in two.
    @Test(arguments: StoreKind.batching)
    func `Of two invalid rows the first one's error is thrown`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for distance in [1, 5, 20] {
            var rows: [[String: Any]] = (0..<40).map { ["name": "\($0)", "email": "\($0)@x"] }
            rows[3]["email"] = "2@x"
            rows[3 + distance]["age"] = "old"
            let taken = #expect(throws: NSError.self) { try stack.insertBatch(rows) }
            #expect(taken?.code == NSManagedObjectConstraintMergeError, "\(distance)")
            rows[2]["age"] = "old"
            let unfit = #expect(throws: NSError.self) { try stack.insertBatch(rows) }
            #expect(unfit?.code == NSManagedObjectValidationError, "\(distance)")
        }
        #expect(try stack.fetch("Person", in: stack.anew()).isEmpty)
    }

    @Test(arguments: StoreKind.batching)
    func `A row that matches two others at once is refused`(kind: StoreKind) throws {
        let model = TestStack.model()
        model.entitiesByName["Tag"]?.properties.append(TestStack.attribute("code", .integer64AttributeType))
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"], ["code"]]
        let stack = try TestStack(kind, model: model)
        try stack.insertBatch([["label": "a", "code": 1], ["label": "b", "code": 2]], into: "Tag")
        let error = #expect(throws: NSError.self) {
            try stack.insertBatch([["label": "c"], ["label": "a", "code": 2]], into: "Tag", policy: .mergeByPropertyObjectTrump)
        }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(try stack.fetch("Tag", in: stack.anew()).count == 2)
        // The first row takes a new code; its old one is free for the second.
        try stack.insertBatch(
            [["label": "a", "code": 3], ["label": "d", "code": 1]], into: "Tag", policy: .mergeByPropertyObjectTrump)
        let codes = try stack.fetch("Tag", in: stack.anew()).compactMap { $0.value(forKey: "code") as? Int }
        #expect(codes.sorted() == [1, 2, 3])
    }

    @Test(arguments: StoreKind.batching)
    func `A handler may fetch, and children insert into the root's store`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        try stack.insertBatch([["name": "a"]])
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = stack.context
        let reader = stack.newContext()
        var seen: [Int] = []
        let request = NSBatchInsertRequest(entityName: "Person", dictionaryHandler: { row in
            seen.append((try? reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))) ?? -1)
            row["name"] = "n\(seen.count)"
            return seen.count > 2
        })
        try child.performAndWait { _ = try child.execute(request) }
        #expect(seen == [1, 1, 1], "nothing is seen before the commit")
        #expect(try stack.names() == ["a", "n1", "n2"] && !stack.context.hasChanges)
    }

    @Test(arguments: StoreKind.batching)
    func `A row counts once, whichever commit meets it again`(kind: StoreKind) throws {
        for rowsPerCommit in [0, 1, 3, 16, 17] {
            let stack = try TestStack(kind)
            try stack.insertBatch([["name": "old", "email": "e0@x"]])
            let request = NSBatchInsertRequest(entityName: "Person", objects: (0..<60).map { ["name": "n\($0)", "email": "e\($0 % 33)@x"] })
            request.resultType = .objectIDs
            request.rowsPerCommit = rowsPerCommit
            let context = stack.newContext()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            #expect(ids.count == 33 && Set(ids).count == 33, "\(rowsPerCommit) rows a commit")
            #expect(try stack.fetch("Person", in: stack.anew()).count == 33)
        }
    }

    @Test(arguments: StoreKind.batching.filter(StoreKind.countingCommits.contains))
    func `A batch is one commit, or as many as requested`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        func insert(_ count: Int, rowsPerCommit: Int = 0, failingAt failure: Int = .max, from first: Int) -> Bool {
            var made = 0
            let request = NSBatchInsertRequest(entityName: "Person", dictionaryHandler: { row in
                row["name"] = "n\(first + made)"
                row["email"] = made == failure ? "n\(first)@x" : "n\(first + made)@x"
                made += 1
                return made > count
            })
            request.rowsPerCommit = rowsPerCommit
            return (try? stack.context.execute(request)) != nil
        }
        var commit = try #require(try stack.commit)
        #expect(try insert(5000, from: 0) && stack.commit == commit + 1)
        commit += 1
        #expect(try !insert(5000, failingAt: 4999, from: 10_000) && stack.commit == commit)
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 5000)
        #expect(try insert(100, rowsPerCommit: 30, from: 20_000) && stack.commit == commit + 4)
        #expect(try !insert(100, rowsPerCommit: 30, failingAt: 70, from: 30_000) && stack.commit == commit + 6)
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 5160)
        #expect(try stack.fetch("Person", "email == 'n4321@x'").first?.value(forKey: "name") as? String == "n4321")
    }

    @Test
    func `A durable batch waits for the disk once`() throws {
        let stack = try TestStack(.recordLog, options: [NSRecordLogDurabilityOption: "full"])
        let before = stack.statistics
        try stack.insertBatch((0..<2000).map { ["name": "n\($0)", "email": "\($0)"] })
        #expect(stack.statistics.syncs == before.syncs + 1)
        #expect(stack.statistics.rowReads == before.rowReads, "nothing is read where no row of the store has the values")
        let between = stack.statistics
        _ = try stack.updateBatch("Person", "name BEGINSWITH 'n1'", ["age": 3])
        #expect(stack.statistics.syncs == between.syncs + 1)
        _ = try stack.deleteBatch("Person", "age == 3")
        #expect(stack.statistics.syncs == between.syncs + 2)
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2000 - 1111)
    }

    @Test(arguments: StoreKind.batching)
    func `A read-only store and an unknown request throw`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        #expect(throws: NSError.self) { try stack.context.execute(NSPersistentStoreRequest()) }
        guard kind.isFile else { return }
        try stack.coordinator.remove(stack.persistentStore)
        let reader = try TestStack(kind, at: stack.url, options: [NSReadOnlyPersistentStoreOption: true])
        let error = #expect(throws: NSError.self) { try reader.insertBatch([["name": "a"]]) }
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
    }

    /// A transaction keeps a bounded amount in memory; an earlier row that is met again is read back from the file.
    @Test(arguments: StoreKind.batching)
    func `A long batch meets its own rows again`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let text = String(repeating: "x", count: 4000)
        var rows: [[String: Any]] = (0..<2000).map { ["name": "\($0) \(text)", "email": "\($0)@x"] }
        rows += [["age": 7, "email": "3@x"], ["age": 8, "email": "1999@x"], ["age": 9, "email": "3@x"]]
        #expect(try stack.insertBatch(rows, policy: .mergeByPropertyObjectTrump).count == 2000)
        let found = try stack.fetch("Person", "age > 1", sort: [NSSortDescriptor(key: "age", ascending: true)], in: stack.anew())
        #expect(found.map { $0.value(forKey: "age") as? Int } == [8, 9])
        #expect(found.map { $0.value(forKey: "name") as? String } == ["1999 \(text)", "3 \(text)"])
    }

    @Test(arguments: StoreKind.batching)
    func `Large data is stored outside its row`(kind: StoreKind) throws {
        let model = TestStack.model()
        let label = TestStack.attribute("photo", .binaryDataAttributeType)
        label.allowsExternalBinaryDataStorage = true
        model.entitiesByName["Tag"]?.properties.append(label)
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["label"]]
        let stack = try TestStack(kind, model: model)
        let photo = Data(repeating: 3, count: 50_000), other = Data(repeating: 4, count: 60_000)
        try stack.insertBatch([["label": "a", "photo": photo], ["label": "b"], ["label": "c", "photo": photo]], into: "Tag")
        let before = stack.bytesAppended
        _ = try stack.updateBatch("Tag", nil, ["label": NSNull()])
        #expect(stack.bytesAppended - before < 10_000, "data that stays is not written again")
        _ = try stack.updateBatch("Tag", "photo != nil", ["photo": other])
        let photos = try stack.fetch("Tag", in: stack.anew()).map { $0.value(forKey: "photo") as? Data }
        #expect(photos == [other, nil, other])
    }

    /// Questions that a handler may ask the object that it fills.
    @Test(arguments: StoreKind.batching)
    func `The object that a handler fills reports its own state`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        var count = 0, changed: [String: Any] = [:]
        let request = NSBatchInsertRequest(entityName: "Person", managedObjectHandler: { person in
            count += 1
            person.setValue("p\(count)", forKey: "name")
            changed = person.changedValues()
            #expect(!person.isInserted && !person.isFault && person.changedValuesForCurrentEvent().isEmpty)
            #expect(person.committedValues(forKeys: ["name"])["name"] is NSNull)
            return count > 2
        })
        try stack.newContext().execute(request)
        #expect(changed["name"] as? String == "p3")
        #expect(try stack.names() == ["p1", "p2"])
    }

    /// A dictionary gets such values from optional variables; on platforms with bridging they become `NSNull`.
    @Test(arguments: StoreKind.batching)
    func `An optional without a value is null`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let name: String? = nil, age: Int? = nil, present: Int? = 5, group: NSManagedObjectID? = nil
        try stack.insertBatch([
            ["name": name as Any, "age": present as Any], ["name": "b", "age": age as Any, "birthday": Date?.none as Any, "group": group as Any],
        ])
        let found = try stack.fetch("Person").map { "\($0.value(forKey: "name") ?? "nil") \($0.value(forKey: "age") ?? "nil")" }
        #expect(found.sorted() == ["b nil", "nil 5"])
        _ = try stack.updateBatch("Person", nil, ["age": age as Any])
        #expect(try stack.fetch("Person", in: stack.anew()).allSatisfy { $0.value(forKey: "age") == nil })
    }

    @Test(arguments: StoreKind.batching)
    func `A handler that writes is refused`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        var count = 0, codes: [Int?] = []
        func note(_ body: () throws -> Void) {
            do {
                try body()
                codes.append(nil)
            } catch { codes.append((error as NSError).code) }
        }
        let request = NSBatchInsertRequest(entityName: "Person", dictionaryHandler: { row in
            count += 1
            guard count == 1 else { return true }
            row["name"] = "a"
            let context = stack.newContext()
            stack.insert("Person", ["name": "saved"], into: context)
            note { try context.save() }
            note { try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["label": "x"]])) }
            stack.coordinator.setMetadata(["a": "b"], for: stack.persistentStore)
            note { try stack.persistentStore.compactRecordLog() }
            return false
        })
        try stack.newContext().execute(request)
        #expect(codes == Array(repeating: NSPersistentStoreOperationError, count: 3))
        #expect(try stack.names() == ["a"] && stack.fetch("Tag").isEmpty)
        #expect(stack.persistentStore.seam.hasNewMetadata && stack.persistentStore.metadata["a"] as? String == "b")
        stack.insert("Person", ["name": "b"])
        try stack.context.save()
        #expect(!stack.persistentStore.seam.hasNewMetadata && stack.persistentStore.metadata["a"] as? String == "b")
        #expect(try stack.names() == ["a", "b"])
    }
}

import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The store that an object goes to, and the stores that a request asks.
@Suite struct RoutingTests {
    @Test(arguments: StoreKind.allCases)
    func `Configurations decide where objects go`(kind: StoreKind) throws {
        let pair = try StorePair(kind, configured: true)
        let book = pair.insert("Book", ["title": "Emma"]), feedback = pair.insert("Feedback", ["title": "good"])
        try pair.context.save()
        #expect(book.objectID.persistentStore === pair.first && feedback.objectID.persistentStore === pair.second)
        #expect(try pair.titles(of: "Book", in: pair.first) == ["Emma"] && pair.titles(of: "Feedback", in: pair.second) == ["good"])
        // A store without the entity has no objects of it.
        #expect(try pair.titles(of: "Book", in: pair.second) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `An object goes to the first store unless it is assigned`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        let a = pair.insert("Book", ["title": "a"]), b = pair.insert("Book", ["title": "b"], into: pair.second)
        pair.context.assign(a, to: pair.first)
        try pair.context.save()
        #expect(a.objectID.persistentStore === pair.first && b.objectID.persistentStore === pair.second)
        #expect(try pair.titles(of: "Book", in: pair.first) == ["a"] && pair.titles(of: "Book", in: pair.second) == ["b"])
        // The same store may be assigned again.
        pair.context.assign(b, to: pair.second)
        #expect(b.value(forKey: "title") as? String == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `A child's choice of a store goes to the parent`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = pair.context
        let book = pair.insert("Book", ["title": "b"], into: pair.second, in: child)
        let early = pair.insert("Book", ["title": "early"], into: pair.second, in: child)
        try child.obtainPermanentIDs(for: [early])
        #expect(early.objectID.persistentStore === pair.second)
        try child.save()
        try pair.context.save()
        #expect(try pair.titles(of: "Book", in: pair.second) == ["b", "early"])
        try child.obtainPermanentIDs(for: [])
        #expect(try child.fetch(pair.request("Book", "title == 'b'")).first === book)
        book.setValue("c", forKey: "title")
        try child.save()
        try pair.context.save()
        #expect(try pair.titles(of: "Book", in: pair.second) == ["c", "early"] && book.objectID.persistentStore === pair.second)
    }

    @Test(arguments: StoreKind.allCases)
    func `A parent's choice reaches a child that knows the object`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = pair.context
        let book = pair.insert("Book", ["title": "b"])
        let twin = child.object(with: book.objectID)
        #expect(twin.value(forKey: "title") as? String == "b")
        pair.context.assign(book, to: pair.second)
        try pair.context.save()
        twin.setValue("c", forKey: "title")
        try child.save()
        try pair.context.save()
        child.refresh(twin, mergeChanges: false)
        #expect(twin.objectID.persistentStore === pair.second && twin.value(forKey: "title") as? String == "c")
    }

    @Test(arguments: StoreKind.allCases)
    func `Faults and relationships stay in their store`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        for (store, name) in [(pair.first, "one"), (pair.second, "two")] {
            let author = pair.insert("Author", ["title": "author \(name)"], into: store)
            let tag = pair.insert("Tag", ["title": "tag \(name)"], into: store)
            for number in 1...3 {
                let book = pair.insert("Book", ["title": "\(name) \(number)", "pages": number, "author": author], into: store)
                book.mutableSetValue(forKey: "tags").add(tag)
            }
        }
        try pair.context.save()
        let context = pair.anew()
        let books = try context.fetch(pair.request("Book", sort: ["title"]))
        #expect(
            books.map { $0.value(forKeyPath: "author.title") as? String } == Array(repeating: "author one", count: 3)
                + Array(repeating: "author two", count: 3))
        for book in books {
            let store = book.objectID.persistentStore
            let author = try #require(book.value(forKey: "author") as? NSManagedObject)
            #expect(author.objectID.persistentStore === store && (author.value(forKey: "books") as? NSSet)?.count == 3)
            let tags = try #require(book.value(forKey: "tags") as? NSSet)
            #expect(tags.count == 1 && (tags.anyObject() as? NSManagedObject)?.objectID.persistentStore === store)
            // An ID leads back to the same object, and differs from the other store's ID with the same number.
            let id = try #require(pair.coordinator.managedObjectID(forURIRepresentation: book.objectID.uriRepresentation()))
            #expect(id == book.objectID && context.object(with: id) === book)
        }
        #expect(Set(books.map(\.objectID)).count == 6)
        let author = try #require(books[5].value(forKey: "author"))
        #expect(try pair.titles(pair.request("Book", "author == %@", author, sort: ["title"]), in: context) == ["two 1", "two 2", "two 3"])
        #expect(try pair.titles(pair.request("Book", "SELF IN %@", [books[0], books[4]], sort: ["title"]), in: context) == ["one 1", "two 2"])
        #expect(try pair.titles(pair.request("Book", "author != %@", author, sort: ["title"]), in: context) == ["one 1", "one 2", "one 3"])
        let prefetching = pair.request("Author", sort: ["title"])
        prefetching.relationshipKeyPathsForPrefetching = ["books"]
        #expect(try pair.anew().fetch(prefetching).map { ($0.value(forKey: "books") as? NSSet)?.count } == [3, 3])
    }

    @Test(arguments: StoreKind.allCases)
    func `A fetch merges the stores in its order`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        for number in 0..<20 {
            pair.insert("Book", ["title": "b\(100 + number)", "pages": number / 4], into: [pair.first, pair.second][number % 3 % 2])
        }
        pair.insert("Comic", ["title": "b105c", "pages": 1], into: pair.second)
        try pair.context.save()
        let all = try pair.titles(pair.request("Book", sort: ["title"]))
        #expect(all == all.sorted() && all.count == 21)
        for offset in [0, 3, 20, 30] {
            let request = pair.request("Book", sort: ["title"])
            (request.fetchOffset, request.fetchLimit) = (offset, 5)
            #expect(try pair.titles(request) == Array(all.dropFirst(offset).prefix(5)))
            #expect(try pair.context.count(for: request) == all.dropFirst(offset).prefix(5).count)
            request.fetchLimit = 0
            #expect(try pair.titles(request) == Array(all.dropFirst(offset)))
        }
        // Pages of an order with many equal values fit together.
        let whole = try pair.titles(pair.request("Book", sort: ["pages"]))
        var pages: [String] = []
        for offset in stride(from: 0, to: 21, by: 4) {
            let request = pair.request("Book", sort: ["pages"])
            (request.fetchOffset, request.fetchLimit) = (offset, 4)
            pages += try pair.titles(request)
        }
        #expect(pages == whole)
        // Without an order the second store is asked for the objects that the first one lacks.
        let some = pair.request("Book")
        some.fetchLimit = 2
        #expect(try pair.titles(some).count == 2 && pair.context.lastQuery.rowsVisited <= 2)
        let descending = pair.request("Book", "pages > 1")
        descending.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        descending.fetchLimit = 3
        #expect(try pair.titles(descending) == ["b119", "b118", "b117"])
        // A condition that rows cannot answer is evaluated on objects, over both stores.
        let odd = pair.request("Book", "FUNCTION(title, 'length') == 5", sort: ["title"])
        if let found = try? pair.titles(odd) { #expect(found == ["b105c"]) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Unsaved changes of either store count`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        let a = pair.insert("Book", ["title": "a"]), b = pair.insert("Book", ["title": "b"], into: pair.second)
        try pair.context.save()
        a.setValue("z", forKey: "title")
        pair.context.delete(b)
        pair.insert("Book", ["title": "new"], into: pair.second)
        #expect(try pair.titles(pair.request("Book", sort: ["title"])) == ["new", "z"])
        let one = pair.request("Book", sort: ["title"])
        one.affectedStores = [pair.second]
        #expect(try pair.titles(one) == ["new"] && pair.context.count(for: one) == 1)
        one.affectedStores = []
        #expect(try pair.titles(one) == [])
    }

    @Test(arguments: StoreKind.batching)
    func `Affected stores narrow every request`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        for number in 0..<6 { pair.insert("Book", ["title": "b\(number)", "pages": number], into: [pair.first, pair.second][number % 2]) }
        try pair.context.save()
        let request = pair.request("Book", sort: ["title"])
        request.affectedStores = [pair.second]
        #expect(try pair.titles(request) == ["b1", "b3", "b5"] && pair.context.count(for: request) == 3)
        let insertion = NSBatchInsertRequest(entityName: "Book", objects: [["title": "batch"]])
        insertion.affectedStores = [pair.second]
        try pair.context.execute(insertion)
        #expect(try pair.titles(of: "Book", in: pair.second) == ["b1", "b3", "b5", "batch"])
        let update = NSBatchUpdateRequest(entityName: "Book")
        (update.propertiesToUpdate, update.resultType) = (["pages": 7], .updatedObjectsCountResultType)
        #expect((try pair.context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 7)
        update.propertiesToUpdate = ["pages": 8]
        update.affectedStores = [pair.first]
        #expect((try pair.context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 3)
        let pages = try pair.anew().fetch(pair.request("Book", sort: ["title"])).map { $0.value(forKey: "pages") as? Int }
        #expect(pages == [8, 7, 8, 7, 8, 7, 7])
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book"))
        deletion.fetchRequest.predicate = NSPredicate(format: "title != 'b1'")
        deletion.affectedStores = [pair.second]
        try pair.context.execute(deletion)
        #expect(try pair.titles(of: "Book", in: pair.first) == ["b0", "b2", "b4"] && pair.titles(of: "Book", in: pair.second) == ["b1"])
        deletion.affectedStores = nil
        try pair.context.execute(deletion)
        #expect(try pair.titles(pair.request("Book"), in: pair.anew()) == ["b1"])
    }

    @Test(arguments: StoreKind.planning)
    func `Groups over two stores are merged`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        for number in 0..<12 {
            pair.insert("Book", ["title": "t\(number % 3)", "pages": number], into: [pair.first, pair.second][number % 2])
        }
        try pair.context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        let sum = NSExpressionDescription()
        (sum.name, sum.expression, sum.expressionResultType) = ("sum", NSExpression(format: "sum:(pages)"), .integer64AttributeType)
        request.propertiesToFetch = ["title", sum]
        request.propertiesToGroupBy = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try pair.context.fetch(request).map { $0["sum"] as? Int } == [18, 22, 26])
        #expect(try pair.context.count(for: request) == 3)
        #expect(try pair.context.explain(request).isInMemory)
        request.affectedStores = [pair.second]
        #expect(try pair.context.fetch(request).map { $0["sum"] as? Int } == [12, 8, 16])
        #expect(try !pair.context.explain(request).isInMemory)
        let titles = NSFetchRequest<NSDictionary>(entityName: "Book")
        titles.resultType = .dictionaryResultType
        titles.propertiesToFetch = ["title"]
        titles.returnsDistinctResults = true
        titles.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        #expect(try pair.context.fetch(titles).map { $0["title"] as? String } == ["t2", "t1", "t0"])
        titles.returnsDistinctResults = false
        (titles.fetchOffset, titles.fetchLimit) = (3, 2)
        #expect(try pair.context.fetch(titles).map { $0["title"] as? String } == ["t2", "t1"])
    }

    @Test(arguments: StoreKind.planning)
    func `A plan describes every store`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        for number in 0..<40 { pair.insert("Author", ["title": "\(number)"], into: [pair.first, pair.second][number % 2]) }
        try pair.context.save()
        let plan = try pair.context.explain(pair.request("Author", "title == '3' OR title == '4'", sort: ["title"]))
        #expect(plan.parts.map(\.entityName) == ["Author", "Author"] && plan.rowsVisited == 40 && plan.rowsMatched == 2 && !plan.isInMemory)
        #expect(plan.isSorted)
    }

    @Test(arguments: StoreKind.allCases)
    func `A relationship to another store is refused`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        let author = pair.insert("Author", ["title": "a"], into: pair.second)
        let book = pair.insert("Book", ["title": "b", "author": author])
        func refusal() -> NSError? {
            do {
                try pair.context.save()
                return nil
            } catch { return error as NSError }
        }
        let error = try #require(refusal())
        #expect(error.code == NSManagedObjectExternalRelationshipError)
        let text = error.localizedDescription
        #expect(text.contains("Book.author") && text.contains(pair.urls[0].path) && text.contains(pair.urls[1].path))
        #expect((error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject])?.contains(book) == true)
        #expect((error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore])?.count == 2)
        #expect(try pair.titles(pair.request("Book"), in: pair.anew()) == [] && pair.titles(pair.request("Author"), in: pair.anew()) == [])
        pair.context.assign(book, to: pair.second)
        try pair.context.save()
        // Many-to-many, with saved objects.
        let tag = pair.insert("Tag", ["title": "t"])
        try pair.context.save()
        book.mutableSetValue(forKey: "tags").add(tag)
        #expect(refusal()?.code == NSManagedObjectExternalRelationshipError)
        book.mutableSetValue(forKey: "tags").remove(tag)
        // Without an inverse.
        pair.insert("Feedback", ["title": "f", "book": book])
        #expect(refusal()?.code == NSManagedObjectExternalRelationshipError)
        pair.context.rollback()
        try pair.context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `Entities of one family may be in two stores`(kind: StoreKind) throws {
        let model = StorePair.model()
        let book = try #require(model.entitiesByName["Book"]), author = try #require(model.entitiesByName["Author"])
        let tag = try #require(model.entitiesByName["Tag"]), comic = try #require(model.entitiesByName["Comic"])
        model.setEntities([book, author, tag], forConfigurationName: "Plain")
        model.setEntities([comic], forConfigurationName: "Drawn")
        let pair = try StorePair((kind, kind), model: model, configurations: ("Plain", "Drawn"))
        pair.insert("Comic", ["title": "b", "color": true])
        for title in ["a", "c"] { pair.insert("Book", ["title": title]) }
        try pair.context.save()
        #expect(try pair.titles(pair.request("Book", sort: ["title"])) == ["a", "b", "c"])
        #expect(try pair.titles(of: "Book", in: pair.second) == ["b"])
        try pair.coordinator.remove(pair.second)
        // No store has the other entity of the family now.
        #expect(try pair.titles(pair.request("Book", sort: ["title"]), in: pair.anew()) == ["a", "c"])
        #expect(throws: (any Error).self) { try pair.anew().fetch(pair.request("Comic")) }
    }

    @Test
    func `A read-only store is read beside another`() throws {
        let urls = (0..<2).map { FileManager.default.temporaryDirectory.appendingPathComponent("mixed-\(UUID().uuidString)-\($0)") }
        do {
            let seed = try StorePair((.recordLog, .recordLog), at: urls)
            seed.insert("Book", ["title": "old", "pages": 1])
            try seed.context.save()
            for store in seed.coordinator.persistentStores { try seed.coordinator.remove(store) }
            try FileManager.default.copyItem(at: urls[0], to: urls[0].appendingPathExtension("kept"))
        }
        let kept = urls[0].appendingPathExtension("kept")
        let pair = try StorePair((.recordLog, .recordLog), at: [kept, urls[1]], options: ([NSReadOnlyPersistentStoreOption: true], [:]))
        defer { try? FileManager.default.removeItem(at: urls[1]) }
        // It goes to the first writable store.
        let new = pair.insert("Book", ["title": "new", "pages": 2])
        try pair.context.save()
        #expect(new.objectID.persistentStore === pair.second)
        #expect(try pair.titles(pair.request("Book", sort: ["pages"])) == ["old", "new"])
        let old = try #require(try pair.context.fetch(pair.request("Book", "title == 'old'")).first)
        old.setValue("changed", forKey: "title")
        new.setValue("newer", forKey: "title")
        #expect(throws: (any Error).self) { try pair.context.save() }
        #expect(try pair.titles(pair.request("Book", sort: ["pages"]), in: pair.anew()) == ["old", "new"])
        pair.context.rollback()
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.propertiesToUpdate = ["pages": 7]
        #expect(throws: (any Error).self) { try pair.context.execute(update) }
        update.affectedStores = [pair.second]
        try pair.context.execute(update)
        #expect(try pair.anew().fetch(pair.request("Book", sort: ["title"])).map { $0.value(forKey: "pages") as? Int } == [7, 1])
    }

    @Test
    func `Another store takes over when one is removed`() throws {
        let pair = try StorePair(.inMemory)
        try pair.coordinator.remove(pair.first)
        let book = pair.insert("Book", ["title": "b"], in: pair.anew())
        try book.managedObjectContext?.save()
        #expect(book.objectID.persistentStore === pair.second)
    }

    @Test
    func `A saved object cannot be assigned to another store`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pair = try StorePair(.inMemory)
            let book = pair.insert("Book", [:])
            try pair.context.save()
            pair.context.assign(book, to: pair.second)
        }
        #if DEBUG
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Can't reassign an object to a different store once it has been saved"))
        #endif
    }

    @Test
    func `An object cannot be assigned to a store without its entity`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pair = try StorePair(.inMemory, configured: true)
            pair.insert("Book", [:], into: pair.second)
        }
        #if DEBUG
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Can't assign an object to a store that does not contain the object's entity"))
        #endif
    }

    /// An object for a removed store goes where a new object would go, whether or not that store is still referenced.
    @Test(arguments: StoreKind.allCases)
    func `An object inserted for a removed store goes to another`(kind: StoreKind) throws {
        let pair = try StorePair(kind)
        pair.insert("Book", ["title": "first"])
        pair.insert("Book", ["title": "second"], into: pair.second)
        try pair.coordinator.remove(pair.first)
        try pair.context.save()
        #expect(try pair.titles(of: "Book", in: pair.second) == ["first", "second"])
    }

    /// It once came after all others, and new objects went to another store than before.
    @Test(arguments: StoreKind.recordLogs)
    func `A migrated store has the old one's position among others`(kind: StoreKind) throws {
        let pair = try StorePair(kind), scratch = try ScratchDirectory()
        pair.insert("Book", ["title": "a"], into: pair.first)
        pair.insert("Book", ["title": "b"], into: pair.second)
        try pair.context.save()
        let new = try pair.coordinator.migratePersistentStore(pair.first, to: scratch["new"], withType: NSRecordLogStoreType)
        #expect(pair.coordinator.persistentStores == [new, pair.second])
        pair.context.reset()
        #expect(try pair.titles(pair.request("Book")) == ["a", "b"])
        let book = pair.insert("Book", ["title": "c"])
        try pair.context.save()
        #expect(book.objectID.persistentStore === new)
    }

    @Test(arguments: StoreKind.allCases)
    func `Equal objects of a family come in the stores' order`(kind: StoreKind) throws {
        let model = StorePair.model()
        let entities = model.entitiesByName
        model.setEntities(entities["Comic"].map { [$0] } ?? [], forConfigurationName: "Comics")
        let pair = try StorePair((kind, kind), model: model, configurations: ("Comics", nil))
        pair.insert("Comic", ["title": "one", "pages": 1], into: pair.first)
        pair.insert("Book", ["title": "two", "pages": 1], into: pair.second)
        try pair.context.save()
        #expect(try pair.titles(pair.request("Book", sort: ["pages"])) == ["one", "two"])
        #expect(try pair.titles(pair.request("Book")) == ["one", "two"])
    }
}

import Foundation
import RecordLog
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Objects of another store that an object finds by a fetched property.
@Suite struct FetchedPropertyTests {
    private func shelf(_ kind: StoreKind) throws -> (pair: StorePair, book: NSManagedObject) {
        let pair = try StorePair(kind, configured: true)
        let book = pair.insert("Book", ["title": "Emma", "uuid": UUID()])
        pair.insert("Book", ["title": "other", "uuid": UUID()])
        for (title, rating) in [("fine", 5), ("long", 2), ("witty", 4)] {
            pair.insert("Feedback", ["title": title, "rating": rating, "bookUUID": try #require(book.value(forKey: "uuid"))])
        }
        pair.insert("Feedback", ["title": "of another", "rating": 1, "bookUUID": UUID()])
        try pair.context.save()
        return (pair, book)
    }

    private func titles(_ object: NSManagedObject, _ key: String = "feedback") -> [String]? {
        (object.value(forKey: key) as? [NSManagedObject])?.map { $0.value(forKey: "title") as? String ?? "-" }
    }

    @Test(arguments: StoreKind.allCases)
    func `A fetched property finds objects of another store`(kind: StoreKind) throws {
        let (pair, book) = try shelf(kind)
        #expect(titles(book) == ["long", "witty", "fine"])
        #expect(Set(titles(book, "praise") ?? []) == ["fine", "witty"])
        let list = try #require(book.value(forKey: "feedback") as? [NSManagedObject])
        #expect(list.allSatisfy { $0.objectID.persistentStore === pair.second && $0.managedObjectContext === pair.context })
        let other = try #require(try pair.anew().fetch(pair.request("Book", "title == 'other'")).first)
        #expect(titles(other) == [] && titles(other, "praise") == [])
        let index = other.propertyIndex("feedback")
        #expect((other.managedAttribute(at: index) as? [NSManagedObject])?.isEmpty == true)
    }

    @Test(arguments: StoreKind.allCases)
    func `A fetched property is fetched once until its object is refreshed`(kind: StoreKind) throws {
        let (pair, book) = try shelf(kind)
        #expect(titles(book)?.count == 3)
        let uuid = try #require(book.value(forKey: "uuid"))
        pair.insert("Feedback", ["title": "late", "rating": 3, "bookUUID": uuid])
        let list = book.value(forKey: "feedback") as? NSArray
        #expect(list === book.value(forKey: "feedback") as? NSArray && list?.count == 3)
        pair.context.refresh(book, mergeChanges: true)
        #expect(titles(book) == ["long", "late", "witty", "fine"])
        // A save neither renews nor drops it, not even its own object's save.
        pair.insert("Feedback", ["title": "later", "rating": 3, "bookUUID": uuid])
        book.setValue("Emma!", forKey: "title")
        try pair.context.save()
        #expect(titles(book)?.count == 4)
        // A refresh that keeps changes, one that drops them, one of all objects, and one into a fault.
        book.setValue("Emma", forKey: "title")
        pair.context.refresh(book, mergeChanges: true)
        #expect(titles(book)?.count == 5 && book.value(forKey: "title") as? String == "Emma")
        try pair.context.save()
        func add() throws {
            let context = pair.anew()
            pair.insert("Feedback", ["title": "more", "rating": 0, "bookUUID": uuid], in: context)
            try context.save()
        }
        try add()
        pair.context.refresh(book, mergeChanges: false)
        #expect(book.isFault && titles(book)?.count == 6)
        try add()
        #expect(titles(book)?.count == 6)
        pair.context.refreshAllObjects()
        #expect(titles(book)?.count == 7)
        // An object that was never saved fetches too, by its unsaved values.
        let new = pair.insert("Book", ["title": "twin", "uuid": uuid])
        #expect(titles(new)?.count == 7)
        new.setValue(UUID(), forKey: "uuid")
        #expect(titles(new)?.count == 7)
        pair.context.refresh(new, mergeChanges: true)
        #expect(titles(new) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `Reading a fetched property is no change`(kind: StoreKind) throws {
        let (pair, book) = try shelf(kind)
        _ = book.value(forKey: "feedback")
        #expect(!pair.context.hasChanges && !book.hasChanges && !book.hasPersistentChangedValues && book.changedValues().isEmpty)
        #expect(book.committedValues(forKeys: nil)["feedback"] == nil)
        let appended = pair.first.rows?.log?.statistics.bytesAppended
        try pair.context.save()
        #expect(pair.first.rows?.log?.statistics.bytesAppended == appended)
        book.setValue("Emma!", forKey: "title")
        #expect(Set(book.changedValues().keys) == ["title"])
        let new = pair.insert("Book", ["title": "n", "uuid": UUID()])
        #expect(titles(new) == [] && new.changedValues()["feedback"] == nil)
        try pair.context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `Key paths lead through a fetched property`(kind: StoreKind) throws {
        let (pair, book) = try shelf(kind)
        #expect(book.value(forKeyPath: "feedback.title") as? [String] == ["long", "witty", "fine"])
        #expect(book.value(forKeyPath: "feedback.@count") as? Int == 3 && book.value(forKeyPath: "feedback.@max.rating") as? Int == 5)
        #expect(book.value(forKeyPath: "praise.@avg.rating") as? Double == 4.5)
        // A predicate in memory may use it, and a store may not.
        let asking = NSPredicate(format: "ANY feedback.rating == 5")
        #expect(asking.evaluate(with: book))
        let request = pair.request("Book")
        request.predicate = asking
        let error = #expect(throws: (any Error).self) { try pair.context.fetch(request) }
        #expect("\(error.map { ($0 as NSError).localizedDescription } ?? "")".contains("feedback is a fetched property"))
    }

    @Test(arguments: StoreKind.allCases)
    func `A child fetches with its own changes`(kind: StoreKind) throws {
        let (pair, book) = try shelf(kind)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = pair.context
        let twin = child.object(with: book.objectID)
        let uuid = try #require(book.value(forKey: "uuid"))
        pair.insert("Feedback", ["title": "unsaved", "rating": 3, "bookUUID": uuid])
        pair.insert("Feedback", ["title": "child's", "rating": 3, "bookUUID": uuid], in: child)
        #expect(Set(titles(twin) ?? []) == ["long", "witty", "fine", "unsaved", "child's"])
        #expect((twin.value(forKey: "feedback") as? [NSManagedObject])?.allSatisfy { $0.managedObjectContext === child } == true)
        #expect(titles(book)?.count == 4)
        try child.save()
        try pair.context.save()
        pair.context.refresh(book, mergeChanges: true)
        #expect(titles(book)?.count == 5 && titles(twin)?.count == 5)
    }

    @Test(arguments: StoreKind.allCases)
    func `A fetched property can give IDs and the source itself`(kind: StoreKind) throws {
        let model = StorePair.model()
        let book = try #require(model.entitiesByName["Book"]), feedback = try #require(model.entitiesByName["Feedback"])
        let ids = StorePair.fetched("ids", feedback, "rating > $FETCH_SOURCE.pages AND title == $FETCHED_PROPERTY.name")
        ids.fetchRequest?.resultType = .managedObjectIDResultType
        let twins = StorePair.fetched("twins", book, "title == $FETCH_SOURCE.title AND SELF != $FETCH_SOURCE", sort: ["pages"])
        book.properties += [ids, twins]
        let pair = try StorePair((kind, kind), model: model)
        let first = pair.insert("Book", ["title": "a", "pages": 3]), second = pair.insert("Book", ["title": "a", "pages": 1], into: pair.second)
        pair.insert("Book", ["title": "b", "pages": 1])
        pair.insert("Feedback", ["title": "ids", "rating": 3])
        let wanted = pair.insert("Feedback", ["title": "ids", "rating": 4], into: pair.second)
        pair.insert("Feedback", ["title": "no", "rating": 5])
        try pair.context.save()
        #expect(first.value(forKey: "ids") as? [NSManagedObjectID] == [wanted.objectID])
        #expect((first.value(forKey: "twins") as? [NSManagedObject]) == [second])
        #expect((second.value(forKey: "twins") as? [NSManagedObject]) == [first])
        // Objects that retain each other in this way are still released with their context.
        weak var gone: NSManagedObject?
        do {
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = pair.coordinator
            let one = try #require(try context.fetch(pair.request("Book", "pages == 3")).first)
            let other = try #require((one.value(forKey: "twins") as? [NSManagedObject])?.first)
            #expect((other.value(forKey: "twins") as? [NSManagedObject])?.first === one)
            gone = one
        }
        #expect(gone == nil)
    }

    @Test
    func `A fetched property cannot be set`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try StorePair(.inMemory, configured: true).insert("Book", [:]).setValue([], forKey: "feedback")
        }
        #if DEBUG
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Book.feedback is a fetched property, which is read-only"))
        #endif
    }
}

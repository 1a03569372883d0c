import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// Only SQLite stores have batch requests on Apple's platforms, so only the default store is asked.
@MainActor struct BatchQuestions {
    private func insert(
        _ stack: Stack, _ rows: [[String: Any]], _ type: NSBatchInsertRequestResultType = .statusOnly, entity: String = "Book"
    ) throws -> Any? {
        let request = NSBatchInsertRequest(entityName: entity, objects: rows)
        request.resultType = type
        return try (stack.context.execute(request) as? NSBatchInsertResult)?.result
    }

    private func update(
        _ stack: Stack, _ values: [AnyHashable: Any], where format: String? = nil,
        _ type: NSBatchUpdateRequestResultType = .updatedObjectsCountResultType
    ) throws -> Any? {
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        (request.propertiesToUpdate, request.resultType) = (values, type)
        return try (stack.context.execute(request) as? NSBatchUpdateResult)?.result
    }

    private func delete(
        _ stack: Stack, _ entity: String, where format: String? = nil, _ type: NSBatchDeleteRequestResultType = .resultTypeCount
    ) throws -> Any? {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = format.map { NSPredicate(format: $0) }
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = type
        return try (stack.context.execute(request) as? NSBatchDeleteResult)?.result
    }

    /// Books of 1, 2 and 3 pages, saved.
    private func books() throws -> Stack {
        let stack = try Stack(.database)
        for pages in 1...3 { stack.new("Book", ["title": "\(pages)", "pages": pages]) }
        try stack.context.save()
        return stack
    }

    @Test(.header("NSPersistentStoreResult", "result types"))
    func `Requests report a status by default`() {
        #expect(NSBatchInsertRequest(entityName: "Book", objects: []).resultType == .statusOnly)
        #expect(NSBatchUpdateRequest(entityName: "Book").resultType == .statusOnlyResultType)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        #expect(NSBatchDeleteRequest(fetchRequest: fetch).resultType == .resultTypeStatusOnly)
    }

    @Test(.header("NSPersistentStoreResult", "NSBatchInsertRequestResultTypeStatusOnly"))
    func `An insertion's status is true`() throws {
        let stack = try Stack(.database)
        #expect(try insert(stack, [["title": "a"], ["title": "b"]]) as? Bool == true)
        #expect(try stack.count("Book") == 2)
    }

    @Test(.header("NSPersistentStoreResult", "NSBatchInsertRequestResultTypeCount"))
    func `An insertion's count is the number of rows`() throws {
        #expect(try insert(Stack(.database), [["title": "a"], ["title": "b"]], .count) as? Int == 2)
    }

    @Test(.header("NSPersistentStoreResult", "NSBatchInsertRequestResultTypeObjectIDs"))
    func `An insertion's IDs are those of the rows`() throws {
        let stack = try Stack(.database)
        let ids = try #require(try insert(stack, [["title": "a"], ["title": "b"]], .objectIDs) as? [NSManagedObjectID])
        #expect(Set(ids) == Set(try stack.fetch("Book").map(\.objectID)) && ids.count == 2)
    }

    @Test(.wwdc(2019, 230, "Batch insertions"))
    func `An insertion registers no objects and posts no save`() throws {
        let stack = try Stack(.database)
        let heard = Heard(.NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange, of: stack.context)
        _ = try insert(stack, [["title": "a"]])
        #expect(stack.context.registeredObjects.isEmpty && heard.all.isEmpty && !stack.context.hasChanges)
    }

    @Test(.wwdc(2019, 230, "Batch insertions"))
    func `A value that a row leaves out is the default`() throws {
        let stack = try Stack(.database)
        _ = try insert(stack, [["title": "a"]])
        let book = try stack.only("Book", in: stack.context)
        #expect(book.int("pages") == 0 && book.value(forKey: "printed") == nil)
    }

    @Test(.reference("nsbatchinsertrequest/init(entity:dictionaryhandler:)"))
    func `A block gives dictionaries until it returns true`() throws {
        let stack = try Stack(.database)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Book") { (row: NSMutableDictionary) -> Bool in
            if number == 3 { return true }
            row["pages"] = number
            number += 1
            return false
        }
        request.resultType = .count
        #expect(try (stack.context.execute(request) as? NSBatchInsertResult)?.result as? Int == 3)
    }

    @Test(.reference("nsbatchinsertrequest/init(entity:managedobjecthandler:)"))
    func `A block gives objects until it returns true`() throws {
        let stack = try Stack(.database)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Book") { (book: NSManagedObject) -> Bool in
            if number == 3 { return true }
            book.setValue(number, forKey: "pages")
            number += 1
            return false
        }
        _ = try stack.context.execute(request)
        #expect(try stack.context.fetch(stack.request("Book", by: "pages")).map { $0.int("pages") } == [0, 1, 2])
    }

    @Test(.wwdc(2020, 10017, "Batch insertions and unique constraints"))
    func `An insertion of taken unique values updates rows, where the object trumps`() throws {
        let stack = try Stack(.database, Sketch.items([Sketch.attribute("note")], unique: [["name"]]))
        try stack.saved("Item", ["name": "a", "number": 1])
        stack.context.reset()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        _ = try insert(stack, [["name": "a", "number": 2], ["name": "b", "number": 3]], entity: "Item")
        #expect(try stack.context.fetch(stack.request("Item", by: "name")).map { $0.int("number") } == [2, 3])
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A4)"))
    func `An insertion without a required value fails with 1570 and inserts nothing`() throws {
        let stack = try Stack(.database, Sketch.items([Sketch.attribute("must", optional: false)]))
        let error = failure { _ = try insert(stack, [["must": "x"], ["name": "a"]], entity: "Item") }, count = try stack.count("Item")
        #expect(error?.code == NSValidationMissingMandatoryPropertyError && count == 0)
    }

    @Test(.header("NSPersistentStoreResult", "NSUpdatedObjectsCountResultType"))
    func `An update's count is the number of rows`() throws {
        let stack = try books()
        #expect(try update(stack, ["isRead": true], where: "pages > 1") as? Int == 2)
        #expect(try stack.count("Book", "isRead == YES", in: stack.sibling()) == 2)
    }

    @Test(.header("NSPersistentStoreResult", "NSBatchUpdateRequestResultType"))
    func `An update's status is true, its IDs those of the rows`() throws {
        let stack = try books()
        #expect(try update(stack, ["isRead": true], .statusOnlyResultType) as? Bool == true)
        let ids = try update(stack, ["isRead": false], where: "pages == 2", .updatedObjectIDsResultType) as? [NSManagedObjectID]
        #expect(ids == (try stack.fetch("Book", "pages == 2").map(\.objectID)))
    }

    @Test(.reference("nsbatchupdaterequest/propertiestoupdate"))
    func `An update takes expressions`() throws {
        let stack = try books()
        _ = try update(stack, ["pages": NSExpression(format: "pages * 10")])
        #expect(try stack.sibling().fetch(stack.request("Book", by: "pages")).map { $0.int("pages") } == [10, 20, 30])
    }

    @Test(.reference("nsbatchupdaterequest/propertiestoupdate"))
    func `An update sets nil by NSNull or a nil expression`() throws {
        let stack = try books()
        _ = try update(stack, ["title": NSExpression(forConstantValue: nil)])
        #expect(try stack.count("Book", "title == nil", in: stack.sibling()) == 3)
    }

    @Test(.reference("nsbatchupdaterequest/includessubentities"))
    func `An update reaches sub-entities by default`() throws {
        let stack = try books()
        try stack.saved("Novel")
        #expect(try update(stack, ["isRead": true]) as? Int == 4)
        let request = NSBatchUpdateRequest(entityName: "Book")
        (request.propertiesToUpdate, request.resultType) = (["isRead": false], .updatedObjectsCountResultType)
        request.includesSubentities = false
        #expect(try (stack.context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 3)
    }

    @Test(.source("Core Data Batch Guide, Implementing Batch Updates: Validation Rules"))
    func `An update does not validate`() throws {
        let stack = try Stack(.database, Sketch.items([Sketch.checked("size", .integer32AttributeType, "SELF < 10")]))
        try stack.saved("Item", ["size": 1])
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = ["size": 100]
        #expect(failure { _ = try stack.context.execute(request) } == nil)
        #expect(try stack.only("Item", in: stack.sibling()).int("size") == 100)
    }

    @Test(.source("Core Data Batch Guide, Implementing Batch Updates: Updating Your Application After Execution"))
    func `Objects that the context has stay as they are until they are refreshed`() throws {
        let stack = try books(), book = try #require(try stack.fetch("Book", "pages == 1").first)
        _ = try update(stack, ["pages": 50], where: "pages == 1")
        #expect(book.int("pages") == 1)
        stack.context.refresh(book, mergeChanges: false)
        #expect(book.int("pages") == 50)
    }

    @Test(.source("Core Data Batch Guide, mergeChangesFromRemoteContextSave"))
    func `Merging the IDs of an update refreshes objects`() throws {
        let stack = try books(), book = try #require(try stack.fetch("Book", "pages == 1").first)
        #expect(book.int("pages") == 1)
        let ids = try #require(try update(stack, ["pages": 50], where: "pages == 1", .updatedObjectIDsResultType) as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [stack.context])
        #expect(book.int("pages") == 50)
    }

    @Test(.header("NSPersistentStoreResult", "NSBatchDeleteResultTypeCount"))
    func `A deletion's count is the number of rows`() throws {
        let stack = try books()
        #expect(try delete(stack, "Book", where: "pages > 1") as? Int == 2)
        #expect(try stack.count("Book", in: stack.sibling()) == 1)
    }

    @Test(.header("NSPersistentStoreResult", "NSBatchDeleteRequestResultType"))
    func `A deletion's status is true, its IDs those of the rows`() throws {
        let stack = try books(), wanted = try stack.fetch("Book", "pages == 2").map(\.objectID)
        #expect(try delete(stack, "Book", where: "pages == 2", .resultTypeObjectIDs) as? [NSManagedObjectID] == wanted)
        #expect(try delete(stack, "Book", .resultTypeStatusOnly) as? Bool == true)
    }

    @Test(.reference("nsbatchdeleterequest/init(objectids:)"))
    func `A deletion takes IDs of one entity`() throws {
        let stack = try books(), ids = try stack.fetch("Book", "pages < 3").map(\.objectID)
        _ = try stack.context.execute(NSBatchDeleteRequest(objectIDs: ids))
        #expect(try stack.sibling().fetch(stack.request("Book")).map { $0.int("pages") } == [3])
    }

    @Test(.wwdc(2015, 220, "Batch deletes"))
    func `A deletion cascades`() throws {
        let stack = try books(), book = try #require(try stack.fetch("Book").first)
        for _ in 1...2 { stack.new("Chapter", ["book": book]) }
        try stack.context.save()
        _ = try delete(stack, "Book")
        #expect(try stack.count("Chapter", in: stack.sibling()) == 0)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B5)"))
    func `A deletion's count is without what cascades`() throws {
        let stack = try books(), book = try #require(try stack.fetch("Book").first)
        for _ in 1...2 { stack.new("Chapter", ["book": book]) }
        try stack.context.save()
        let count = try delete(stack, "Book") as? Int
        #expect(count == 3)
    }

    @Test(.wwdc(2015, 220, "Batch deletes"))
    func `A deletion clears what pointed at the rows`() throws {
        let stack = try Stack(.database)
        stack.new("Book", ["author": stack.new("Author")])
        try stack.context.save()
        _ = try delete(stack, "Author")
        #expect(try stack.only("Book", in: stack.sibling()).object("author") == nil)
    }

    @Test(.source("Core Data Batch Guide, Implementing Batch Deletes: Updating Your Application After Execution"))
    func `A deletion leaves the context's objects until they are merged`() throws {
        let stack = try books(), book = try #require(try stack.fetch("Book", "pages == 1").first), id = book.objectID
        _ = book.text("title")
        let ids = try #require(try delete(stack, "Book", where: "pages == 1", .resultTypeObjectIDs) as? [NSManagedObjectID])
        #expect(!book.isDeleted && stack.context.registeredObject(for: id) === book)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [stack.context])
        #expect(book.isDeleted || book.managedObjectContext == nil)
    }
}

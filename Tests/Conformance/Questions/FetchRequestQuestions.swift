import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct FetchRequestQuestions {
    /// Saved books "a" to "e" of 1 to 5 pages, and a novel "n" of 6.
    private func books(_ kind: StoreKind) throws -> Stack {
        let stack = try Stack(kind)
        for (number, title) in ["a", "b", "c", "d", "e"].enumerated() { stack.new("Book", ["title": title, "pages": number + 1]) }
        stack.new("Novel", ["title": "n", "pages": 6])
        try stack.context.save()
        return stack
    }

    private func titles(_ objects: [NSManagedObject]) -> String { objects.map { $0.text("title") ?? "-" }.joined() }

    @Test(.header("NSFetchRequest", "each property's default"))
    func `A new request has the documented defaults`() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        #expect(request.entityName == "Book" && request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
        #expect(request.includesSubentities && request.includesPropertyValues && request.includesPendingChanges)
        #expect(request.returnsObjectsAsFaults)
        #expect(!request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects && request.resultType == .managedObjectResultType)
        #expect(request.predicate == nil && request.havingPredicate == nil && (request.relationshipKeyPathsForPrefetching ?? []).isEmpty)
    }

    @Test(.reference("nsfetchrequest/sortdescriptors"), arguments: StoreKind.allCases)
    func `Sort descriptors order the results`(kind: StoreKind) throws {
        let stack = try books(kind)
        #expect(titles(try stack.context.fetch(stack.request("Book", by: "-pages"))) == "nedcba")
    }

    @Test(.reference("nsfetchrequest/sortdescriptors"), arguments: StoreKind.allCases)
    func `A later sort descriptor orders what an earlier one finds equal`(kind: StoreKind) throws {
        let stack = try books(kind)
        for book in try stack.fetch("Book") { book.setValue((book.int("pages") ?? 0) % 2 == 0, forKey: "isRead") }
        try stack.context.save()
        #expect(titles(try stack.context.fetch(stack.request("Book", by: "isRead", "-title"))) == "ecandb")
    }

    @Test(.source("SQLite, Datatypes: NULL sorts before other values; NSSortDescriptor treats nil as lowest"), arguments: StoreKind.allCases)
    func `nil comes first in ascending order`(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book", ["pages": 9])
        try stack.context.save()
        #expect(try stack.context.fetch(stack.request("Book", by: "title")).first?.int("pages") == 9)
    }

    @Test(.reference("nsfetchrequest/sortdescriptors"), arguments: StoreKind.allCases)
    func `A key path orders by what a to-one relationship leads to`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        for (title, name) in [("x", "Zoe"), ("y", "Ada")] {
            stack.new("Book", ["title": title, "author": stack.new("Author", ["name": name])])
        }
        try stack.context.save()
        #expect(titles(try stack.context.fetch(stack.request("Book", by: "author.name"))) == "yx")
    }

    @Test(.reference("nsfetchrequest/fetchlimit"), arguments: StoreKind.allCases)
    func `fetchLimit bounds the number of results`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        request.fetchLimit = 2
        #expect(titles(try stack.context.fetch(request)) == "ab")
    }

    @Test(.header("NSFetchRequest", "fetchOffset"), arguments: StoreKind.allCases)
    func `fetchOffset skips results, past the end all of them`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        request.fetchOffset = 4
        #expect(titles(try stack.context.fetch(request)) == "en")
        request.fetchOffset = 6
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test(.header("NSFetchRequest", "fetchOffset, fetchLimit"), arguments: StoreKind.allCases)
    func `Offset and limit make a page`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        (request.fetchOffset, request.fetchLimit) = (2, 2)
        #expect(titles(try stack.context.fetch(request)) == "cd")
    }

    @Test(.header("NSFetchRequest", "includesSubentities"), arguments: StoreKind.allCases)
    func `A request includes sub-entities by default`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book")
        #expect(try stack.context.count(for: request) == 6)
        request.includesSubentities = false
        #expect(try stack.context.count(for: request) == 5)
        #expect(try stack.count("Novel") == 1)
    }

    @Test(.header("NSFetchRequest", "includesPendingChanges"), arguments: StoreKind.allCases)
    func `A request finds unsaved changes: insertions, changes and deletions`(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book", ["title": "new", "pages": 100])
        try #require(try stack.fetch("Book", "title == 'a'").first).setValue(101, forKey: "pages")
        stack.context.delete(try #require(try stack.fetch("Book", "title == 'b'").first))
        #expect(try stack.count("Book", "pages >= 100") == 2)
        #expect(try stack.count("Book", "title == 'b'") == 0)
    }

    @Test(.header("NSFetchRequest", "includesPendingChanges"), arguments: StoreKind.allCases)
    func `Without pending changes a request asks only the store`(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book", ["title": "new", "pages": 100])
        let request = stack.request("Book", "pages >= 100")
        request.includesPendingChanges = false
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test(.header("NSManagedObjectContext", "countForFetchRequest:error:"), arguments: StoreKind.allCases)
    func `A count is the number of what the fetch returns`(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book")
        #expect(try stack.count("Book") == 7)
    }

    @Test(.header("NSManagedObjectContext", "countForFetchRequest:error:"), arguments: StoreKind.allCases)
    func `A count respects limit and offset`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book")
        request.fetchLimit = 4
        #expect(try stack.context.count(for: request) == 4)
    }

    @Test(.reference("nsfetchrequestresulttype/managedobjectidresulttype"), arguments: StoreKind.allCases)
    func `A request for IDs returns them`(kind: StoreKind) throws {
        let stack = try books(kind), request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        request.resultType = .managedObjectIDResultType
        #expect(Set(try stack.context.fetch(request)) == Set(try stack.fetch("Book").map(\.objectID)))
    }

    @Test(.reference("nsfetchrequestresulttype/countresulttype"), arguments: StoreKind.allCases)
    func `A request for a count returns one number`(kind: StoreKind) throws {
        let stack = try books(kind), request = NSFetchRequest<NSNumber>(entityName: "Book")
        request.resultType = .countResultType
        #expect(try stack.context.fetch(request) == [6])
    }

    @Test(.reference("nsfetchrequest/shouldrefreshrefetchedobjects"), arguments: StoreKind.allCases)
    func `A fetch leaves the values of objects that the context has`(kind: StoreKind) throws {
        let stack = try books(kind), other = stack.sibling()
        let mine = try #require(try stack.fetch("Book", "title == 'a'", in: other).first)
        #expect(mine.int("pages") == 1)
        try #require(try stack.fetch("Book", "title == 'a'").first).setValue(50, forKey: "pages")
        try stack.context.save()
        _ = try stack.fetch("Book", in: other)
        #expect(mine.int("pages") == 1)
        let request = stack.request("Book")
        request.shouldRefreshRefetchedObjects = true
        _ = try other.fetch(request)
        #expect(mine.int("pages") == 50)
    }

    @Test(.reference("nsfetchrequest/affectedstores"), arguments: StoreKind.allCases)
    func `affectedStores bounds a request to stores`(kind: StoreKind) throws {
        let stack = try books(kind)
        let second = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let book = stack.new("Book", ["title": "elsewhere"])
        stack.context.assign(book, to: second)
        try stack.context.save()
        let request = stack.request("Book")
        #expect(try stack.context.count(for: request) == 7)
        request.affectedStores = [second]
        #expect(titles(try stack.context.fetch(request)) == "elsewhere" && book.objectID.persistentStore === second)
    }

    @Test(.header("NSFetchRequest", "execute:"), arguments: StoreKind.allCases)
    func `execute() runs a request in the context whose block is running`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        let found = try stack.context.performAndWait { try request.execute().count }
        #expect(found == 6)
    }

    @Test(.reference("nsentitydescription/entity(forentityname:in:)"))
    func `A request of an unknown name cannot be found by its entity`() throws {
        let stack = try Stack()
        #expect(NSEntityDescription.entity(forEntityName: "Nothing", in: stack.context) == nil)
        #expect(NSEntityDescription.entity(forEntityName: "Book", in: stack.context)?.name == "Book")
    }

    @Test(.reference("nsfetchrequest"))
    func `A copy of a request changes by itself`() throws {
        let stack = try Stack(), request = stack.request("Book", "pages > 3", by: "title")
        request.fetchLimit = 3
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(copy.fetchLimit == 3 && copy.predicate?.predicateFormat == "pages > 3" && copy.sortDescriptors?.count == 1)
        copy.fetchLimit = 1
        #expect(request.fetchLimit == 3)
    }

    @Test(.header("NSManagedObjectModel", "fetchRequestFromTemplateWithName:substitutionVariables:"))
    func `A model's template makes requests with its variables filled in`() throws {
        let model = Sketch.library(), template = NSFetchRequest<any NSFetchRequestResult>()
        template.entity = model.entitiesByName["Book"]
        template.predicate = NSPredicate(format: "pages >= $least")
        model.setFetchRequestTemplate(template, forName: "long")
        let stack = try Stack(.inMemory, model)
        stack.new("Book", ["pages": 5])
        stack.new("Book", ["pages": 3])
        let request = try #require(model.fetchRequestFromTemplate(withName: "long", substitutionVariables: ["least": 4]))
        #expect(try stack.context.count(for: request) == 1 && model.fetchRequestTemplatesByName.keys.sorted() == ["long"])
        #expect(model.fetchRequestFromTemplate(withName: "short", substitutionVariables: [:]) == nil)
    }

    @Test(.header("NSFetchRequest", "relationshipKeyPathsForPrefetching"), arguments: StoreKind.allCases)
    func `Prefetched relationships lead to whole objects without further asking`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author", ["name": "Ada"])
        stack.new("Book", ["author": author])
        try stack.context.save()
        let request = stack.request("Author"), other = stack.sibling()
        request.relationshipKeyPathsForPrefetching = ["books"]
        #expect(try other.fetch(request).first?.members("books").count == 1)
    }

    @Test(.reference("nsasynchronousfetchrequest"))
    func `An asynchronous request gives its result to the completion`() async throws {
        let stack = try books(.database), request = stack.request("Book", by: "pages")
        let context = stack.context
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            let later = NSAsynchronousFetchRequest(fetchRequest: request) { continuation.resume(returning: $0.finalResult?.count ?? -1) }
            do { _ = try context.execute(later) } catch { continuation.resume(throwing: error) }
        }
        #expect(count == 6)
    }

    @Test(.reference("nsasynchronousfetchresult"))
    func `An asynchronous request returns before it has a result`() throws {
        let stack = try books(.database), later = NSAsynchronousFetchRequest(fetchRequest: stack.request("Book"), completionBlock: nil)
        let result = try #require(try stack.context.execute(later) as? NSAsynchronousFetchResult<NSManagedObject>)
        #expect(result.fetchRequest === later && result.operationError == nil && result.managedObjectContext === stack.context)
        result.cancel()
    }
}

import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor @Suite("Fetch requests") struct FetchRequestQuestions {
    /// Saved books "a" to "e" of 1 to 5 pages, and a novel "n" of 6.
    private func books(_ kind: StoreKind) throws -> Stack {
        let stack = try Stack(kind)
        for (number, title) in ["a", "b", "c", "d", "e"].enumerated() { stack.new("Book", ["title": title, "pages": number + 1]) }
        stack.new("Novel", ["title": "n", "pages": 6])
        try stack.context.save()
        return stack
    }

    private func titles(_ objects: [NSManagedObject]) -> String { objects.map { $0.text("title") ?? "-" }.joined() }

    @Test("A new request has the documented defaults", .header("NSFetchRequest", "each property's default"))
    func defaults() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        #expect(request.entityName == "Book" && request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
        #expect(request.includesSubentities && request.includesPropertyValues && request.includesPendingChanges)
        #expect(request.returnsObjectsAsFaults)
        #expect(!request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects && request.resultType == .managedObjectResultType)
        #expect(request.predicate == nil && request.havingPredicate == nil && (request.relationshipKeyPathsForPrefetching ?? []).isEmpty)
    }

    @Test("Sort descriptors order the results", .reference("nsfetchrequest/sortdescriptors"), arguments: StoreKind.allCases)
    func order(kind: StoreKind) throws {
        let stack = try books(kind)
        #expect(titles(try stack.context.fetch(stack.request("Book", by: "-pages"))) == "nedcba")
    }

    @Test(
        "A later sort descriptor orders what an earlier one finds equal", .reference("nsfetchrequest/sortdescriptors"),
        arguments: StoreKind.allCases)
    func twoKeys(kind: StoreKind) throws {
        let stack = try books(kind)
        for book in try stack.fetch("Book") { book.setValue((book.int("pages") ?? 0) % 2 == 0, forKey: "isRead") }
        try stack.context.save()
        #expect(titles(try stack.context.fetch(stack.request("Book", by: "isRead", "-title"))) == "ecandb")
    }

    @Test(
        "nil comes first in ascending order",
        .source("SQLite, Datatypes: NULL sorts before other values; NSSortDescriptor treats nil as lowest"), arguments: StoreKind.allCases)
    func nilFirst(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book", ["pages": 9])
        try stack.context.save()
        #expect(try stack.context.fetch(stack.request("Book", by: "title")).first?.int("pages") == 9)
    }

    @Test(
        "A key path orders by what a to-one relationship leads to", .reference("nsfetchrequest/sortdescriptors"),
        arguments: StoreKind.allCases)
    func orderByPath(kind: StoreKind) throws {
        let stack = try Stack(kind)
        for (title, name) in [("x", "Zoe"), ("y", "Ada")] {
            stack.new("Book", ["title": title, "author": stack.new("Author", ["name": name])])
        }
        try stack.context.save()
        #expect(titles(try stack.context.fetch(stack.request("Book", by: "author.name"))) == "yx")
    }

    @Test("fetchLimit bounds the number of results", .reference("nsfetchrequest/fetchlimit"), arguments: StoreKind.allCases)
    func limit(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        request.fetchLimit = 2
        #expect(titles(try stack.context.fetch(request)) == "ab")
    }

    @Test("fetchOffset skips results, past the end all of them", .header("NSFetchRequest", "fetchOffset"), arguments: StoreKind.allCases)
    func offset(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        request.fetchOffset = 4
        #expect(titles(try stack.context.fetch(request)) == "en")
        request.fetchOffset = 6
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test("Offset and limit make a page", .header("NSFetchRequest", "fetchOffset, fetchLimit"), arguments: StoreKind.allCases)
    func page(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        (request.fetchOffset, request.fetchLimit) = (2, 2)
        #expect(titles(try stack.context.fetch(request)) == "cd")
    }

    @Test(
        "A request includes sub-entities by default", .header("NSFetchRequest", "includesSubentities"),
        arguments: StoreKind.allCases)
    func subentities(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book")
        #expect(try stack.context.count(for: request) == 6)
        request.includesSubentities = false
        #expect(try stack.context.count(for: request) == 5)
        #expect(try stack.count("Novel") == 1)
    }

    @Test(
        "A request finds unsaved changes: insertions, changes and deletions", .header("NSFetchRequest", "includesPendingChanges"),
        arguments: StoreKind.allCases)
    func pending(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book", ["title": "new", "pages": 100])
        try #require(try stack.fetch("Book", "title == 'a'").first).setValue(101, forKey: "pages")
        stack.context.delete(try #require(try stack.fetch("Book", "title == 'b'").first))
        #expect(try stack.count("Book", "pages >= 100") == 2)
        #expect(try stack.count("Book", "title == 'b'") == 0)
    }

    @Test(
        "Without pending changes a request asks only the store", .header("NSFetchRequest", "includesPendingChanges"),
        arguments: StoreKind.allCases)
    func withoutPending(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book", ["title": "new", "pages": 100])
        let request = stack.request("Book", "pages >= 100")
        request.includesPendingChanges = false
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test(
        "A count is the number of what the fetch returns", .header("NSManagedObjectContext", "countForFetchRequest:error:"),
        arguments: StoreKind.allCases)
    func count(kind: StoreKind) throws {
        let stack = try books(kind)
        stack.new("Book")
        #expect(try stack.count("Book") == 7)
    }

    @Test(
        "A count respects limit and offset", .header("NSManagedObjectContext", "countForFetchRequest:error:"),
        arguments: StoreKind.allCases)
    func countOfPage(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book")
        request.fetchLimit = 4
        #expect(try stack.context.count(for: request) == 4)
    }

    @Test("A request for IDs returns them", .reference("nsfetchrequestresulttype/managedobjectidresulttype"), arguments: StoreKind.allCases)
    func ids(kind: StoreKind) throws {
        let stack = try books(kind), request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        request.resultType = .managedObjectIDResultType
        #expect(Set(try stack.context.fetch(request)) == Set(try stack.fetch("Book").map(\.objectID)))
    }

    @Test("A request for a count returns one number", .reference("nsfetchrequestresulttype/countresulttype"), arguments: StoreKind.allCases)
    func countResult(kind: StoreKind) throws {
        let stack = try books(kind), request = NSFetchRequest<NSNumber>(entityName: "Book")
        request.resultType = .countResultType
        #expect(try stack.context.fetch(request) == [6])
    }

    @Test(
        "A fetch leaves the values of objects that the context has", .reference("nsfetchrequest/shouldrefreshrefetchedobjects"),
        arguments: StoreKind.allCases)
    func refetched(kind: StoreKind) throws {
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

    @Test("affectedStores bounds a request to stores", .reference("nsfetchrequest/affectedstores"), arguments: StoreKind.allCases)
    func affectedStores(kind: StoreKind) throws {
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

    @Test(
        "execute() runs a request in the context whose block is running", .header("NSFetchRequest", "execute:"),
        arguments: StoreKind.allCases)
    func execute(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "pages")
        let found = try stack.context.performAndWait { try request.execute().count }
        #expect(found == 6)
    }

    @Test("A request of an unknown name cannot be found by its entity", .reference("nsentitydescription/entity(forentityname:in:)"))
    func unknownEntity() throws {
        let stack = try Stack()
        #expect(NSEntityDescription.entity(forEntityName: "Nothing", in: stack.context) == nil)
        #expect(NSEntityDescription.entity(forEntityName: "Book", in: stack.context)?.name == "Book")
    }

    @Test("A copy of a request changes by itself", .reference("nsfetchrequest"))
    func copied() throws {
        let stack = try Stack(), request = stack.request("Book", "pages > 3", by: "title")
        request.fetchLimit = 3
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(copy.fetchLimit == 3 && copy.predicate?.predicateFormat == "pages > 3" && copy.sortDescriptors?.count == 1)
        copy.fetchLimit = 1
        #expect(request.fetchLimit == 3)
    }

    @Test(
        "A model's template makes requests with its variables filled in",
        .header("NSManagedObjectModel", "fetchRequestFromTemplateWithName:substitutionVariables:"))
    func template() throws {
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

    @Test(
        "Prefetched relationships lead to whole objects without further asking",
        .header("NSFetchRequest", "relationshipKeyPathsForPrefetching"), arguments: StoreKind.allCases)
    func prefetching(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author", ["name": "Ada"])
        stack.new("Book", ["author": author])
        try stack.context.save()
        let request = stack.request("Author"), other = stack.sibling()
        request.relationshipKeyPathsForPrefetching = ["books"]
        #expect(try other.fetch(request).first?.members("books").count == 1)
    }

    @Test("An asynchronous request gives its result to the completion", .reference("nsasynchronousfetchrequest"))
    func asynchronous() async throws {
        let stack = try books(.database), request = stack.request("Book", by: "pages")
        let context = stack.context
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            let later = NSAsynchronousFetchRequest(fetchRequest: request) { continuation.resume(returning: $0.finalResult?.count ?? -1) }
            do { _ = try context.execute(later) } catch { continuation.resume(throwing: error) }
        }
        #expect(count == 6)
    }

    @Test("An asynchronous request returns before it has a result", .reference("nsasynchronousfetchresult"))
    func asynchronousResult() throws {
        let stack = try books(.database), later = NSAsynchronousFetchRequest(fetchRequest: stack.request("Book"), completionBlock: nil)
        let result = try #require(try stack.context.execute(later) as? NSAsynchronousFetchResult<NSManagedObject>)
        #expect(result.fetchRequest === later && result.operationError == nil && result.managedObjectContext === stack.context)
        result.cancel()
    }
}

import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct FaultingQuestions {
    /// A stack with a saved author of two books, and a context that has read nothing.
    private func library(_ kind: StoreKind) throws -> (Stack, NSManagedObjectContext) {
        let stack = try Stack(kind), author = stack.new("Author", ["name": "Ada"])
        for title in ["one", "two"] { stack.new("Book", ["title": title, "author": author]) }
        try stack.context.save()
        return (stack, stack.sibling())
    }

    @Test(.header("NSFetchRequest", "returnsObjectsAsFaults"), arguments: StoreKind.allCases)
    func `A fetch returns objects that are faults`(kind: StoreKind) throws {
        let (stack, other) = try library(kind)
        #expect(try stack.fetch("Book", in: other).allSatisfy { $0.isFault })
    }

    @Test(.header("NSFetchRequest", "returnsObjectsAsFaults"), arguments: StoreKind.allCases)
    func `A fetch that wants no faults returns none`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), request = stack.request("Book")
        request.returnsObjectsAsFaults = false
        #expect(try other.fetch(request).allSatisfy { !$0.isFault })
    }

    @Test(.guide("Faulting and Uniquing", "Firing Faults"), arguments: StoreKind.allCases)
    func `Reading an attribute fires the fault`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        #expect(author.isFault && author.text("name") == "Ada" && !author.isFault)
    }

    @Test(.guide("Performance", "Faulting Behavior"), arguments: StoreKind.allCases)
    func `Asking a fault for its identity, state, hash or description does not fire it`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        _ = (author.objectID, author.entity, author.managedObjectContext, author.hash, author.description)
        _ = (author.isInserted, author.isUpdated, author.isDeleted, author.isFault, author.isEqual(author), author.hasChanges)
        #expect(author.isFault)
    }

    @Test(.guide("Faulting and Uniquing", "Firing Faults"), arguments: StoreKind.allCases)
    func `A fault is fired by a change too`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        author.setValue("Bob", forKey: "name")
        #expect(!author.isFault && author.isUpdated)
    }

    @Test(.header("NSManagedObjectContext", "objectWithID:"), arguments: StoreKind.allCases)
    func `object(with:) makes a fault without reading`(kind: StoreKind) throws {
        let (stack, other) = try library(kind)
        let id = try stack.only("Author", in: stack.context).objectID, author = other.object(with: id)
        #expect(author.isFault && author.objectID == id && other.registeredObject(for: id) === author)
    }

    @Test(.header("NSManagedObjectContext", "objectWithID:"), arguments: StoreKind.allCases)
    func `object(with:) makes a fault even of what is not there`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), book = try #require(try stack.fetch("Book").first), id = book.objectID
        stack.context.delete(book)
        try stack.context.save()
        #expect(other.object(with: id).isFault)
    }

    @Test(.header("NSManagedObjectContext", "existingObjectWithID:error:"), arguments: StoreKind.allCases)
    func `existingObject(with:) returns no fault`(kind: StoreKind) throws {
        let (stack, other) = try library(kind)
        let id = try stack.only("Author", in: stack.context).objectID, author = try other.existingObject(with: id)
        #expect(!author.isFault)
    }

    @Test(.header("CoreDataErrors", "NSManagedObjectReferentialIntegrityError"), arguments: StoreKind.allCases)
    func `existingObject(with:) throws 133000 for what is not there`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), book = try #require(try stack.fetch("Book").first), id = book.objectID
        stack.context.delete(book)
        try stack.context.save()
        let error = failure { _ = try other.existingObject(with: id) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectReferentialIntegrityError && error?.code == 133000)
    }

    @Test(.header("NSManagedObjectContext", "objectRegisteredForID:"), arguments: StoreKind.allCases)
    func `registeredObject(for:) is nil for what the context has not met`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), id = try stack.only("Author", in: stack.context).objectID
        #expect(other.registeredObject(for: id) == nil)
        let author = try other.existingObject(with: id)
        #expect(other.registeredObject(for: id) === author)
    }

    @Test(.header("NSManagedObject", "hasFaultForRelationshipNamed:"), arguments: StoreKind.allCases)
    func `A to-many relationship is a fault until it is read`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        _ = author.text("name")
        #expect(author.hasFault(forRelationshipNamed: "books"))
        #expect(author.members("books").count == 2 && !author.hasFault(forRelationshipNamed: "books"))
    }

    @Test(.guide("Faulting and Uniquing", "Faulting Limits the Size of the Object Graph"), arguments: StoreKind.allCases)
    func `Members that a relationship leads to are faults`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        #expect(author.members("books").allSatisfy { $0.isFault })
    }

    @Test(.guide("Faulting and Uniquing", "Faulting Limits the Size of the Object Graph"), arguments: StoreKind.allCases)
    func `The object of a to-one relationship is a fault`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), book = try #require(try stack.fetch("Book", in: other).first)
        #expect(book.object("author")?.isFault == true)
    }

    @Test(.header("NSManagedObject", "objectIDsForRelationshipNamed:"), arguments: StoreKind.allCases)
    func `objectIDs(forRelationshipNamed:) is one ID for a to-one, none for an empty one, all for a to-many`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        stack.new("Book", ["title": "three"])
        try stack.context.save()
        let books = try stack.fetch("Book", in: other)
        #expect(Set(author.objectIDs(forRelationshipNamed: "books")) == Set(books.filter { $0.text("title") != "three" }.map(\.objectID)))
        for book in books {
            let wanted = book.text("title") == "three" ? [] : [author.objectID]
            #expect(book.objectIDs(forRelationshipNamed: "author") == wanted)
        }
    }

    @Test(.reference("nsmanagedobject/isfault"), arguments: StoreKind.allCases)
    func `An inserted object is no fault, nor one that was just saved`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        #expect(!book.isFault)
        try stack.context.save()
        #expect(!book.isFault)
    }

    @Test(.header("NSManagedObject", "faultingState"), arguments: StoreKind.allCases)
    func `faultingState is 0 for a whole object`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        #expect(author.faultingState != 0)
        _ = author.text("name")
        #expect(author.faultingState == 0)
    }

    @Test(.header("NSManagedObjectContext", "refreshObject:mergeChanges:"), arguments: StoreKind.allCases)
    func `A refresh that does not merge makes a fault and drops changes`(kind: StoreKind) throws {
        let (stack, _) = try library(kind), author = try stack.only("Author", in: stack.context)
        author.setValue("Bob", forKey: "name")
        stack.context.refresh(author, mergeChanges: false)
        #expect(author.isFault && !author.hasChanges && author.text("name") == "Ada")
    }

    @Test(.reference("nsmanagedobjectcontext/refresh(_:mergechanges:)"), arguments: StoreKind.allCases)
    func `A refresh that merges takes the store's values and keeps changes`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        author.setValue("Bob", forKey: "name")
        try stack.only("Author", in: stack.context).setValue(1815, forKey: "born")
        try stack.context.save()
        other.refresh(author, mergeChanges: true)
        #expect(author.int("born") == 1815 && author.text("name") == "Bob" && author.hasChanges)
    }

    @Test(.header("NSManagedObjectContext", "refreshAllObjects: it handles dirtied objects"), arguments: StoreKind.allCases)
    func `refreshAllObjects keeps changes`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), author = try stack.only("Author", in: other)
        author.setValue("Bob", forKey: "name")
        try stack.only("Author", in: stack.context).setValue(1815, forKey: "born")
        try stack.context.save()
        other.refreshAllObjects()
        #expect(author.text("name") == "Bob" && author.int("born") == 1815 && author.hasChanges)
    }

    @Test(.wwdc(2015, 220, "refreshAllObjects"), arguments: StoreKind.allCases)
    func `refreshAllObjects makes faults of objects without changes`(kind: StoreKind) throws {
        let (stack, _) = try library(kind), author = try stack.only("Author", in: stack.context)
        _ = author.text("name")
        stack.context.refreshAllObjects()
        #expect(author.isFault)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B7)"), arguments: StoreKind.allCases)
    func `A refresh that merges makes a fault of an object without changes, and its transient values go`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        book.setPrimitiveValue("glad", forKey: "mood")
        stack.context.refresh(book, mergeChanges: true)
        #expect(book.isFault && book.value(forKey: "mood") == nil)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B8)"), arguments: StoreKind.allCases)
    func `An unsaved insertion that is refreshed without merging is a fault`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        stack.context.refresh(book, mergeChanges: false)
        #expect(book.isFault)
    }

    @Test(.reference("nsmanagedobjectcontext/reset()"), arguments: StoreKind.allCases)
    func `After reset() the context has no object and no change`(kind: StoreKind) throws {
        let (stack, _) = try library(kind)
        stack.new("Book")
        stack.context.reset()
        #expect(stack.context.registeredObjects.isEmpty && !stack.context.hasChanges && stack.context.insertedObjects.isEmpty)
        #expect(try stack.count("Book") == 2)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B8)"), arguments: StoreKind.allCases)
    func `An object whose context was reset has no context and is a fault`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        stack.context.reset()
        #expect(book.managedObjectContext == nil)
        #expect(book.isFault)
    }

    @Test(.reference("nsmanagedobjectcontext/shoulddeleteinaccessiblefaults"), arguments: StoreKind.allCases)
    func `A fault whose row is gone counts as deleted and reads nil`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), book = try #require(try stack.fetch("Book").first)
        let stale = other.object(with: book.objectID)
        stack.context.delete(book)
        try stack.context.save()
        #expect(other.shouldDeleteInaccessibleFaults)
        #expect(stale.value(forKey: "title") == nil && stale.isDeleted && other.deletedObjects.contains(stale))
    }

    @Test(.header("NSFetchRequest", "includesPropertyValues"), arguments: StoreKind.allCases)
    func `A fetch without property values returns faults that read the store when they fire`(kind: StoreKind) throws {
        let (stack, other) = try library(kind), request = stack.request("Author")
        request.includesPropertyValues = false
        let author = try #require(try other.fetch(request).first)
        #expect(author.isFault && author.text("name") == "Ada")
    }

    @Test(.header("NSFetchRequest", "fetchBatchSize"), arguments: StoreKind.allCases)
    func `A fetch in batches returns as many objects`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        for number in 0..<25 { stack.new("Book", ["pages": number]) }
        try stack.context.save()
        let request = stack.request("Book", by: "pages")
        request.fetchBatchSize = 10
        #expect(try stack.sibling().fetch(request).map { $0.int("pages") } == Array(0..<25))
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B10)"))
    func `A fetch of IDs registers no objects`() throws {
        let (_, other) = try library(.database), request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
        request.resultType = .managedObjectIDResultType
        let ids = try other.fetch(request)
        #expect(ids.count == 2 && ids.allSatisfy { other.registeredObject(for: $0) == nil })
    }

    @Test(.header("NSManagedObjectContext", "retainsRegisteredObjects"), arguments: StoreKind.allCases)
    func `Objects without changes that nobody holds are registered no more`(kind: StoreKind) throws {
        let (stack, other) = try library(kind)
        #expect(!other.retainsRegisteredObjects)
        try drained { for book in try stack.fetch("Book", in: other) { _ = book.text("title") } }
        #expect(other.registeredObjects.isEmpty)
    }

    @Test(.header("NSManagedObjectContext", "retainsRegisteredObjects"), arguments: StoreKind.allCases)
    func `A context that retains registered objects keeps them`(kind: StoreKind) throws {
        let (stack, other) = try library(kind)
        other.retainsRegisteredObjects = true
        try drained { for book in try stack.fetch("Book", in: other) { _ = book.text("title") } }
        #expect(other.registeredObjects.count == 2)
    }
}

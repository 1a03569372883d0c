import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct IdentityQuestions {
    @Test(.reference("nsmanagedobjectid/istemporaryid"), arguments: StoreKind.allCases)
    func `An object's ID is temporary until it is saved`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book"), before = book.objectID
        #expect(before.isTemporaryID)
        try stack.context.save()
        #expect(!book.objectID.isTemporaryID && book.objectID != before)
    }

    @Test(.reference("nsmanagedobject/objectid"), arguments: StoreKind.allCases)
    func `A saved object keeps its ID`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), id = book.objectID
        book.setValue("other", forKey: "title")
        try stack.context.save()
        #expect(book.objectID == id)
    }

    @Test(.header("NSManagedObjectContext", "obtainPermanentIDsForObjects:error:"), arguments: StoreKind.allCases)
    func `obtainPermanentIDs(for:) gives permanent IDs to objects that stay inserted`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        try stack.context.obtainPermanentIDs(for: [book])
        let id = book.objectID
        #expect(!id.isTemporaryID && book.isInserted)
        try stack.context.save()
        #expect(book.objectID == id)
    }

    @Test(.header("NSManagedObjectContext", "obtainPermanentIDsForObjects:error:"), arguments: StoreKind.allCases)
    func `obtainPermanentIDs(for:) leaves permanent IDs as they are`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), id = book.objectID
        try stack.context.obtainPermanentIDs(for: [book])
        #expect(book.objectID == id && !book.hasChanges)
    }

    @Test(.header("NSManagedObjectContext", "obtainPermanentIDsForObjects:error:"), arguments: StoreKind.allCases)
    func `An object with a permanent ID ahead of its save is not in the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        try stack.context.obtainPermanentIDs(for: [book])
        #expect(try stack.count("Book", in: stack.sibling()) == 0)
    }

    @Test(.reference("nsmanagedobjectid/urirepresentation()"), arguments: StoreKind.allCases)
    func `A URI has the scheme x-coredata`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        #expect(book.objectID.uriRepresentation().scheme == "x-coredata")
        try stack.context.save()
        #expect(book.objectID.uriRepresentation().scheme == "x-coredata")
    }

    @Test(.reference("nspersistentstorecoordinator/managedobjectid(foruripresentation:)"), arguments: StoreKind.allCases)
    func `A permanent ID's URI has the store's UUID for its host`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        let uuid = stack.coordinator.metadata(for: stack.store)[NSStoreUUIDKey] as? String
        #expect(book.objectID.uriRepresentation().host == uuid && stack.store.identifier == uuid)
    }

    @Test(.source("Core Data Snippets, Managed Object IDs and URIs"), arguments: StoreKind.allCases)
    func `A permanent ID's URI names the entity in its path`(kind: StoreKind) throws {
        let stack = try Stack(kind), parts = try stack.saved("Novel").objectID.uriRepresentation().pathComponents
        #expect(parts.count == 3 && parts[1] == "Novel")
    }

    @Test(.reference("nsmanagedobjectid/urirepresentation()"), arguments: StoreKind.allCases)
    func `A temporary ID's URI names no store`(kind: StoreKind) throws {
        let uri = try Stack(kind).new("Book").objectID.uriRepresentation()
        #expect((uri.host ?? "") == "" && uri.pathComponents.dropFirst().first == "Book")
    }

    @Test(.reference("nspersistentstorecoordinator/managedobjectid(foruripresentation:)"), arguments: StoreKind.allCases)
    func `A URI leads back to its ID`(kind: StoreKind) throws {
        let stack = try Stack(kind), id = try stack.saved("Book").objectID
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
    }

    @Test(.reference("nsmanagedobjectid"), arguments: StoreKind.files)
    func `A URI leads to its object after the store is opened again`(kind: StoreKind) throws {
        let stack = try Stack(kind), uri = try stack.saved("Book", ["title": "one"]).objectID.uriRepresentation()
        let again = try stack.reopened()
        let id = try #require(again.coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(try again.context.existingObject(with: id).text("title") == "one")
    }

    @Test(.header("NSPersistentStoreCoordinator", "managedObjectIDForURIRepresentation:"), arguments: StoreKind.allCases)
    func `A URI of a store that the coordinator does not have leads nowhere`(kind: StoreKind) throws {
        let one = try Stack(kind), other = try Stack(kind), uri = try one.saved("Book").objectID.uriRepresentation()
        #expect(other.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
    }

    @Test(.reference("nsmanagedobjectid"), arguments: StoreKind.allCases)
    func `An ID has its entity and its store`(kind: StoreKind) throws {
        let stack = try Stack(kind), id = try stack.saved("Novel").objectID
        #expect(id.entity.name == "Novel" && id.persistentStore === stack.store)
    }

    @Test(.guide("Faulting and Uniquing", "Uniquing Ensures a Single Managed Object per Record per Context"), arguments: StoreKind.allCases)
    func `Contexts of one coordinator have equal IDs for a row`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), other = try stack.only("Book", in: stack.sibling())
        #expect(book.objectID == other.objectID && book.objectID.hash == other.objectID.hash && book !== other)
    }

    @Test(.guide("Faulting and Uniquing", "Uniquing Ensures a Single Managed Object per Record per Context"), arguments: StoreKind.allCases)
    func `A context has one object for a row, however it comes to it`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author")
        stack.new("Book", ["author": author])
        try stack.context.save()
        let context = stack.sibling(), fetched = try stack.only("Author", in: context), book = try stack.only("Book", in: context)
        #expect(try stack.only("Author", in: context) === fetched && book.object("author") === fetched)
        #expect(context.object(with: author.objectID) === fetched)
        #expect(try context.existingObject(with: author.objectID) === fetched)
    }

    @Test(.guide("Faulting and Uniquing", "Uniquing Ensures a Single Managed Object per Record per Context"), arguments: StoreKind.allCases)
    func `A fault that object(with:) made is what a later fetch finds`(kind: StoreKind) throws {
        let stack = try Stack(kind), id = try stack.saved("Book").objectID, context = stack.sibling(), fault = context.object(with: id)
        #expect(try stack.only("Book", in: context) === fault)
    }

    @Test(.header("NSManagedObjectContext", "executeFetchRequest:error:"), arguments: StoreKind.allCases)
    func `A predicate may compare self with an object or an ID`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        try stack.saved("Book")
        let context = stack.sibling()
        #expect(try stack.fetch("Book", "SELF == %@", [book.objectID], in: context).map(\.objectID) == [book.objectID])
        #expect(try stack.count("Book", "SELF IN %@", [[book.objectID]], in: context) == 1)
        #expect(try stack.count("Book", "SELF == %@", [book]) == 1)
        #expect(try stack.count("Book", "SELF != %@", [book]) == 1)
    }

    @Test(.reference("nsmanagedobjectcontext/registeredobject(for:)"), arguments: StoreKind.allCases)
    func `The temporary ID leads to the object before the save`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        #expect(stack.context.registeredObject(for: book.objectID) === book && stack.context.object(with: book.objectID) === book)
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSStoreUUIDKey"), arguments: StoreKind.allCases)
    func `Two stores have different UUIDs`(kind: StoreKind) throws {
        let one = try Stack(kind), other = try Stack(kind)
        #expect(one.store.identifier != other.store.identifier)
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSStoreUUIDKey"), arguments: StoreKind.files)
    func `A store keeps its UUID when it is opened again`(kind: StoreKind) throws {
        let stack = try Stack(kind), uuid = stack.store.identifier
        try stack.saved("Book")
        #expect(try stack.reopened().store.identifier == uuid)
    }
}

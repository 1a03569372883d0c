import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct ChildContextQuestions {
    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child's save goes to its parent and not to the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), child = stack.child()
        stack.new("Book", in: child)
        try child.save()
        #expect(!child.hasChanges && stack.context.hasChanges && stack.context.insertedObjects.count == 1)
        #expect(try stack.count("Book", in: stack.sibling()) == 0)
        try stack.context.save()
        #expect(try stack.count("Book", in: stack.sibling()) == 1)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `The parent does not see what a child has not saved`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"]), child = stack.child()
        child.object(with: book.objectID).setValue("new", forKey: "title")
        #expect(book.text("title") == "old" && !stack.context.hasChanges)
        try child.save()
        #expect(book.text("title") == "new" && book.isUpdated)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child sees its parent's unsaved objects and values`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"])
        book.setValue("new", forKey: "title")
        stack.new("Book", ["title": "unsaved"])
        let child = stack.child()
        #expect(Set(try stack.fetch("Book", in: child).map { $0.text("title") }) == ["new", "unsaved"])
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child does not find what its parent has deleted`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        stack.context.delete(book)
        #expect(try stack.count("Book", in: stack.child()) == 0)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child's object has its parent's ID, and is another instance`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), mine = try stack.only("Book", in: stack.child())
        #expect(mine.objectID == book.objectID && mine !== book)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child's deletion deletes in the parent at the child's save`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), child = stack.child()
        child.delete(child.object(with: book.objectID))
        #expect(!book.isDeleted)
        try child.save()
        #expect(book.isDeleted && stack.context.deletedObjects == [book])
    }

    @Test(.reference("nsmanagedobjectcontext/rollback()"), arguments: StoreKind.allCases)
    func `A child's rollback leaves the parent's changes`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"])
        book.setValue("parent", forKey: "title")
        let child = stack.child(), mine = child.object(with: book.objectID)
        mine.setValue("child", forKey: "title")
        child.rollback()
        #expect(mine.text("title") == "parent" && book.text("title") == "parent" && stack.context.hasChanges)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child's relationships come to the parent`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = try stack.saved("Author"), child = stack.child()
        stack.new("Book", ["author": child.object(with: author.objectID)], in: child)
        try child.save()
        #expect(author.members("books").count == 1)
        try stack.context.save()
        #expect(try stack.only("Author", in: stack.sibling()).members("books").count == 1)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A grandchild's save takes three saves to the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), child = stack.child(), grandchild = stack.child(of: child)
        stack.new("Book", in: grandchild)
        for context in [grandchild, child, stack.context] {
            #expect(try stack.count("Book", in: stack.sibling()) == 0)
            try context.save()
        }
        #expect(try stack.count("Book", in: stack.sibling()) == 1)
    }

    @Test(.reference("nsmanagedobjectcontext/persistentstorecoordinator"))
    func `A child has its parent's coordinator`() throws {
        let stack = try Stack(), child = stack.child()
        #expect(child.parent === stack.context && child.persistentStoreCoordinator === stack.coordinator)
    }

    @Test(.header("NSManagedObjectContext", "queryGenerationToken: all child contexts will return nil"))
    func `A child has no query generation`() throws {
        let stack = try Stack(.database)
        try stack.context.setQueryGenerationFrom(.current)
        #expect(stack.child().queryGenerationToken == nil)
    }

    @Test(.header("NSManagedObjectContext", "automaticallyMergesChangesFromParent"), arguments: StoreKind.allCases)
    func `A child that merges by itself follows its parent's saves`(kind: StoreKind) async throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"]), child = stack.child()
        child.automaticallyMergesChangesFromParent = true
        let mine = child.object(with: book.objectID)
        #expect(mine.text("title") == "old")
        book.setValue("new", forKey: "title")
        try stack.context.save()
        await child.perform {}
        #expect(mine.text("title") == "new")
    }

    @Test(.header("NSManagedObjectContext", "automaticallyMergesChangesFromParent"), arguments: StoreKind.allCases)
    func `A child that does not merge keeps what it has read`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"]), child = stack.child()
        let mine = child.object(with: book.objectID)
        _ = mine.text("title")
        book.setValue("new", forKey: "title")
        try stack.context.save()
        #expect(mine.text("title") == "old")
        child.refresh(mine, mergeChanges: true)
        #expect(mine.text("title") == "new")
    }

    @Test(.header("NSManagedObjectContext", "obtainPermanentIDsForObjects:error:"), arguments: StoreKind.allCases)
    func `A child's new objects get permanent IDs when they are asked for`(kind: StoreKind) throws {
        let stack = try Stack(kind), child = stack.child(), book = stack.new("Book", in: child)
        try child.obtainPermanentIDs(for: [book])
        let id = book.objectID
        try child.save()
        try stack.context.save()
        #expect(!id.isTemporaryID && book.objectID == id)
        #expect(try stack.only("Book", in: stack.sibling()).objectID == id)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `An order that a child changes reaches the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        for heading in ["a", "b"] { stack.new("Chapter", ["heading": heading, "book": book]) }
        try stack.context.save()
        let child = stack.child()
        child.object(with: book.objectID).mutableOrderedSetValue(forKey: "chapters").moveObjects(at: IndexSet(integer: 1), to: 0)
        try child.save()
        try stack.context.save()
        #expect(try stack.only("Book", in: stack.sibling()).members("chapters").map { $0.text("heading") } == ["b", "a"])
    }
}

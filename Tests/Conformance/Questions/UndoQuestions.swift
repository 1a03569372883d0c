import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct UndoQuestions {
    /// From here on the context records one step for each group. A change outside of a group ends the program on Apple's platforms.
    private func record(_ stack: Stack) {
        let manager = UndoManager()
        manager.groupsByEvent = false
        stack.context.undoManager = manager
    }

    private func step(_ stack: Stack, _ change: () throws -> Void) rethrows {
        stack.context.undoManager?.beginUndoGrouping()
        try change()
        stack.context.processPendingChanges()
        stack.context.undoManager?.endUndoGrouping()
    }

    @Test(.reference("nsmanagedobjectcontext/undomanager"))
    func `A context has no undo manager of itself`() throws {
        #expect(NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType).undoManager == nil)
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `undo() takes a change of an attribute back, redo() makes it again`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        record(stack)
        step(stack) { book.setValue("two", forKey: "title") }
        stack.context.undo()
        #expect(book.text("title") == "one")
        stack.context.redo()
        #expect(book.text("title") == "two")
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `undo() takes an insertion back`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        record(stack)
        step(stack) { stack.new("Book") }
        stack.context.undo()
        #expect(stack.context.insertedObjects.isEmpty)
        #expect(try stack.count("Book") == 0)
        stack.context.redo()
        #expect(stack.context.insertedObjects.count == 1)
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `undo() brings a deleted object back, with its values`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        record(stack)
        step(stack) { stack.context.delete(book) }
        stack.context.undo()
        #expect(!book.isDeleted && book.text("title") == "one" && stack.context.deletedObjects.isEmpty)
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `undo() takes both sides of a relationship back`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = try stack.saved("Author"), book = try stack.saved("Book")
        record(stack)
        step(stack) { book.setValue(author, forKey: "author") }
        #expect(author.members("books") == [book])
        stack.context.undo()
        #expect(book.object("author") == nil && author.members("books").isEmpty)
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `undo() brings back what a cascade deleted`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book"), chapter = stack.new("Chapter", ["book": book])
        try stack.context.save()
        record(stack)
        step(stack) { stack.context.delete(book) }
        #expect(chapter.isDeleted)
        stack.context.undo()
        #expect(!book.isDeleted && !chapter.isDeleted && book.members("chapters") == [chapter])
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `Each step is undone by itself, the last one first`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        record(stack)
        for pages in 1...3 { step(stack) { book.setValue(pages, forKey: "pages") } }
        var seen: [Int?] = []
        for _ in 1...3 {
            stack.context.undo()
            seen.append(book.int("pages"))
        }
        #expect(seen == [2, 1, 0])
    }

    @Test(.source("Undo Architecture, Undo Operations and Groups"), arguments: StoreKind.allCases)
    func `A new step takes away what could be redone`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        record(stack)
        step(stack) { book.setValue(1, forKey: "pages") }
        stack.context.undo()
        #expect(stack.context.undoManager?.canRedo == true)
        step(stack) { book.setValue(2, forKey: "pages") }
        #expect(stack.context.undoManager?.canRedo == false)
    }

    @Test(.reference("nsmanagedobjectcontext/processpendingchanges()"), arguments: StoreKind.allCases)
    func `A change while registration is disabled cannot be undone`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        record(stack)
        stack.context.undoManager?.disableUndoRegistration()
        book.setValue(1, forKey: "pages")
        stack.context.processPendingChanges()
        stack.context.undoManager?.enableUndoRegistration()
        #expect(stack.context.undoManager?.canUndo == false && book.int("pages") == 1)
    }

    @Test(.reference("nsmanagedobjectcontext/rollback()"), arguments: StoreKind.allCases)
    func `rollback() empties the undo stack`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        record(stack)
        step(stack) { book.setValue(1, forKey: "pages") }
        stack.context.rollback()
        #expect(stack.context.undoManager?.canUndo == false && book.int("pages") == 0)
    }

    @Test(.reference("nsmanagedobjectcontext/rollback()"), arguments: StoreKind.allCases)
    func `rollback() discards insertions and deletions and restores committed values`(kind: StoreKind) throws {
        let stack = try Stack(kind), kept = try stack.saved("Book", ["title": "kept"]), changed = try stack.saved("Book", ["title": "was"])
        stack.new("Book")
        stack.context.delete(kept)
        changed.setValue("is", forKey: "title")
        stack.context.rollback()
        #expect(!stack.context.hasChanges && !kept.isDeleted && changed.text("title") == "was")
        #expect(try stack.count("Book") == 2)
    }

    @Test(.reference("nsmanagedobjectcontext/rollback()"), arguments: StoreKind.allCases)
    func `rollback() restores relationships`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author"), book = stack.new("Book", ["author": author])
        try stack.context.save()
        book.setValue(nil, forKey: "author")
        stack.context.rollback()
        #expect(book.object("author") === author && author.members("books") == [book])
    }

    @Test(.reference("nsmanagedobjectcontext/rollback()"), arguments: StoreKind.allCases)
    func `rollback() reads nothing from the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"]), other = stack.sibling()
        try stack.only("Book", in: other).setValue("new", forKey: "title")
        try other.save()
        book.setValue(3, forKey: "pages")
        stack.context.rollback()
        #expect(book.text("title") == "old")
    }

    @Test(.reference("nsmanagedobject/changedvalues()"), arguments: StoreKind.allCases)
    func `An undo to the saved state leaves no changed value`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        record(stack)
        step(stack) { book.setValue("two", forKey: "title") }
        stack.context.undo()
        #expect(book.changedValues().isEmpty)
    }

    @Test(.reference("nsmanagedobjectcontext/undo()"), arguments: StoreKind.allCases)
    func `Undoing after a save makes an unsaved change`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        record(stack)
        step(stack) { book.setValue("two", forKey: "title") }
        try stack.context.save()
        stack.context.undo()
        #expect(book.text("title") == "one" && book.hasChanges)
        #expect(try stack.only("Book", in: stack.sibling()).text("title") == "two")
    }

    @Test(.reference("nsmanagedobjectcontext/reset()"), arguments: StoreKind.allCases)
    func `reset() leaves nothing to undo`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        record(stack)
        step(stack) { book.setValue(1, forKey: "pages") }
        stack.context.reset()
        #expect(stack.context.undoManager?.canUndo == false)
    }
}

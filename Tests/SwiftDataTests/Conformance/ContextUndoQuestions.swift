import Foundation
import SwiftData
import Testing

private let undo = Source.source(
    "Hacking with Swift, How to add support for undo and redo",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-add-support-for-undo-and-redo")
private let reverting = Source.reference("reverting-data-changes-using-the-undo-manager")

@Suite struct ContextUndoQuestions {
    /// From here on the context records a step for each group.
    private func record(_ stack: Stack) -> UndoManager {
        let manager = UndoManager()
        manager.groupsByEvent = false
        stack.context.undoManager = manager
        return manager
    }

    private func step(_ stack: Stack, _ change: () throws -> Void) rethrows {
        stack.context.undoManager?.beginUndoGrouping()
        try change()
        stack.context.processPendingChanges()
        stack.context.undoManager?.endUndoGrouping()
    }

    @Test(.reference("modelcontext/undomanager"), arguments: StoreKind.allCases)
    func `A context has no undo manager until it is given one`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(stack.context.undoManager == nil)
        let manager = UndoManager()
        stack.context.undoManager = manager
        #expect(stack.context.undoManager === manager)
    }

    @Test(undo, arguments: StoreKind.allCases)
    func `Undo takes a change of a property back, and redo makes it again`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let manager = record(stack)
        step(stack) { garden.area = 3 }
        #expect(manager.canUndo && !manager.canRedo)
        manager.undo()
        #expect(garden.area == 0 && manager.canRedo)
        manager.redo()
        #expect(garden.area == 3)
    }

    @Test(undo, arguments: StoreKind.allCases)
    func `Undo removes a model that was inserted, and its relationships`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let manager = record(stack)
        step(stack) { stack.context.insert(Bed(number: 1, garden: garden)) }
        #expect(garden.beds.count == 1)
        manager.undo()
        #expect(garden.beds.isEmpty)
        try stack.context.save()
        #expect(try stack.count(Bed.self) == 0)
    }

    @Test(reverting, arguments: StoreKind.allCases)
    func `Undo brings a deleted model back, with what a cascade deleted`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1, garden: garden)
        try stack.save(bed)
        let manager = record(stack)
        step(stack) { stack.context.delete(garden) }
        #expect(bed.isDeleted)
        manager.undo()
        #expect(!garden.isDeleted && !bed.isDeleted && garden.beds == [bed] && garden.name == "Kew")
        try stack.context.save()
        #expect(try stack.count(Bed.self) == 1)
    }

    @Test(undo, arguments: StoreKind.allCases)
    func `The changes of one group are undone together, groups one after the other`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let manager = record(stack)
        step(stack) { (garden.area, garden.name) = (1, "a") }
        step(stack) { garden.area = 2 }
        manager.undo()
        #expect(garden.area == 1 && garden.name == "a")
        manager.undo()
        #expect(garden.area == 0 && garden.name == "Kew")
    }

    @Test(undo, arguments: StoreKind.allCases)
    func `A change that was saved can be undone, which is a new change`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let manager = record(stack)
        step(stack) { garden.area = 1 }
        try stack.context.save()
        manager.undo()
        #expect(garden.area == 0 && stack.context.hasChanges)
        try stack.context.save()
        #expect(try stack.stored(Garden.self).map(\.area) == [0])
    }

    @Test(.reference("modelcontext/rollback()"), arguments: StoreKind.allCases)
    func `A rollback empties the undo stack`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let manager = record(stack)
        step(stack) { garden.area = 1 }
        stack.context.rollback()
        #expect(!manager.canUndo && garden.area == 0)
    }

    @MainActor @Test(undo, arguments: StoreKind.allCases)
    func `An undo manager as it comes takes the changes of one turn of the run loop back together`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), main = stack.container.mainContext, garden = Garden(name: "Kew")
        main.autosaveEnabled = false
        main.insert(garden)
        try main.save()
        main.undoManager = UndoManager()
        (garden.area, garden.name) = (3, "a")
        garden.beds.append(Bed(number: 1))
        main.undoManager?.undo()
        #expect(garden.area == 0 && garden.name == "Kew" && garden.beds.isEmpty)
        main.undoManager?.redo()
        #expect(garden.area == 3 && garden.name == "a" && garden.beds.map(\.number) == [1])
    }

    @Test(.reference("modelcontext/undomanager"), arguments: StoreKind.allCases)
    func `Without an undo manager nothing is recorded`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let manager = record(stack)
        stack.context.undoManager = nil
        garden.area = 1
        stack.context.processPendingChanges()
        #expect(!manager.canUndo && garden.area == 1)
    }
}

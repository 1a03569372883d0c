import Foundation
import SwiftData
import Testing

@Suite struct SavingQuestions {
    @Test(.reference("modelcontext/willsave"), arguments: StoreKind.allCases)
    func `A save posts willSave before and didSave after it, of the context`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), heard = Heard(ModelContext.willSave, ModelContext.didSave, of: stack.context)
        try stack.save(Garden(name: "Kew"))
        #expect(heard.all.map(\.name) == [ModelContext.willSave, ModelContext.didSave])
        #expect(heard.all.allSatisfy { $0.object as? ModelContext === stack.context })
    }

    @Test(.reference("modelcontext/willsave"), arguments: StoreKind.allCases)
    func `willSave has no user info`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), heard = Heard(ModelContext.willSave, of: stack.context)
        try stack.save(Garden(name: "Kew"))
        #expect(heard.all.map { $0.userInfo == nil } == [true])
    }

    @Test(.reference("modelcontext/didsave"), arguments: StoreKind.allCases)
    func `didSave has the identifiers of inserted, updated and deleted models`(kind: StoreKind) throws {
        let stack = try Stack(kind, Bed.self), heard = Heard(ModelContext.didSave, of: stack.context)
        let changed = Bed(number: 1), deleted = Bed(number: 2), inserted = Bed(number: 3)
        try stack.save(changed, deleted)
        let gone = deleted.id
        #expect(Set(heard.identifiers(.insertedIdentifiers)) == [changed.id, gone])
        changed.number = 5
        stack.context.delete(deleted)
        try stack.save(inserted)
        #expect(heard.identifiers(.insertedIdentifiers) == [inserted.id] && heard.identifiers(.updatedIdentifiers) == [changed.id])
        #expect(heard.identifiers(.deletedIdentifiers) == [gone])
    }

    @Test(.reference("modelcontext/didsave"), arguments: StoreKind.allCases)
    func `A save that throws posts no didSave`(kind: StoreKind) throws {
        let stack = try Stack(kind, Canoe.self), heard = Heard(ModelContext.didSave, of: stack.context)
        stack.context.insert(Canoe(name: "empty"))
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(heard.all.isEmpty)
    }

    @Test(.reference("modelcontext/notificationkey"), arguments: StoreKind.allCases)
    func `The notifications of one context do not come from another`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), heard = Heard(ModelContext.willSave, ModelContext.didSave, of: stack.context)
        let other = stack.other()
        other.insert(Garden(name: "Kew"))
        try other.save()
        #expect(heard.all.isEmpty)
    }

    // MARK: Autosave

    @Test(.reference("modelcontext/autosaveenabled"), arguments: StoreKind.allCases)
    func `A context that the program makes does not save by itself`(kind: StoreKind) throws {
        #expect(try !Stack(kind, Garden.self).context.autosaveEnabled)
    }

    @MainActor @Test(.reference("modelcontext/autosaveenabled"), arguments: StoreKind.allCases)
    func `The main context saves by itself after a change`(kind: StoreKind) async throws {
        let stack = try Stack(kind, Garden.self), main = stack.container.mainContext
        #expect(main.autosaveEnabled)
        main.insert(Garden(name: "Kew"))
        // The save is a job of the main queue, and a context tells nobody but itself when it is due.
        for _ in 0..<400 where main.hasChanges { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try stack.count(Garden.self) == 1)
    }

    @MainActor @Test(
        .source(
            "Hacking with Swift, How to enable or disable autosave for a ModelContext",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-enable-or-disable-autosave-for-a-modelcontext"),
        arguments: StoreKind.allCases)
    func `The main context can be told not to save by itself`(kind: StoreKind) async throws {
        let stack = try Stack(kind, Garden.self), main = stack.container.mainContext
        main.autosaveEnabled = false
        main.insert(Garden(name: "Kew"))
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        #expect(main.hasChanges)
        #expect(try stack.count(Garden.self) == 0)
        try main.save()
        #expect(try stack.count(Garden.self) == 1)
    }

    @MainActor @Test(.reference("modelcontainer/maincontext"), arguments: StoreKind.allCases)
    func `A container has one main context`(kind: StoreKind) throws {
        let container = try Stack(kind, Garden.self).container
        #expect(container.mainContext === container.mainContext && container.mainContext.container == container)
    }

    @MainActor @Test(
        .source(
            "Hacking with Swift, When does SwiftData autosave data?",
            "https://www.hackingwithswift.com/quick-start/swiftdata/when-does-swiftdata-autosave-data"),
        arguments: StoreKind.allCases)
    func `An autosave that fails keeps the changes, and an explicit save throws`(kind: StoreKind) async throws {
        let stack = try Stack(kind, Canoe.self), main = stack.container.mainContext
        main.insert(Canoe(name: "empty"))
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        #expect(main.hasChanges)
        #expect(throws: (any Error).self) { try main.save() }
        #expect(try stack.count(Canoe.self) == 0)
    }
}

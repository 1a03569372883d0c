import Foundation
import SwiftData
import Testing

private let deletion = Source.source("Use Your Loaf, SwiftData deleting data", "https://useyourloaf.com/blog/swiftdata-deleting-data/")
private let lists = Source.source(
    "Hacking with Swift, How to read the list of objects that have been inserted, edited or deleted",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-read-the-list-of-objects-that-have-been-inserted-edited-or-deleted")
private let discarding = Source.source(
    "Hacking with Swift, How to discard changes to a SwiftData object",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-discard-changes-to-a-swiftdata-object")

@Suite struct ContextQuestions {
    @Test(.reference("modelcontext/haschanges"), arguments: StoreKind.allCases)
    func `A context has changes after an insertion, a change and a deletion, until it is saved`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        #expect(!stack.context.hasChanges)
        for change in [{ stack.context.insert(garden) }, { garden.area = 2 }, { stack.context.delete(garden) }] {
            change()
            #expect(stack.context.hasChanges)
            try stack.context.save()
            #expect(!stack.context.hasChanges)
        }
    }

    @Test(lists, arguments: StoreKind.allCases)
    func `The arrays of inserted, changed and deleted models have what was done since the save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Bed.self), context = stack.context, changed = Bed(number: 1), deleted = Bed(number: 2)
        try stack.save(changed, deleted)
        #expect(context.insertedModelsArray.isEmpty)
        changed.number = 7
        context.delete(deleted)
        let inserted = Bed(number: 3)
        context.insert(inserted)
        #expect(context.insertedModelsArray.map(ObjectIdentifier.init) == [ObjectIdentifier(inserted)])
        #expect(context.changedModelsArray.map(ObjectIdentifier.init) == [ObjectIdentifier(changed)])
        #expect(context.deletedModelsArray.map(ObjectIdentifier.init) == [ObjectIdentifier(deleted)])
        try context.save()
        #expect(context.insertedModelsArray.isEmpty && context.changedModelsArray.isEmpty && context.deletedModelsArray.isEmpty)
    }

    @Test(.reference("modelcontext/insert(_:)"), arguments: StoreKind.allCases)
    func `What a context has not saved no other context sees`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        #expect(try stack.count(Garden.self) == 0)
        try stack.context.save()
        garden.area = 5
        #expect(try stack.stored(Garden.self).map(\.area) == [0])
        stack.context.delete(garden)
        #expect(try stack.count(Garden.self) == 1)
    }

    @Test(.reference("modelcontext/insert(_:)"), arguments: StoreKind.allCases)
    func `A second insertion of a model changes nothing`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden, garden)
        stack.context.insert(garden)
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 1)
    }

    @Test(.reference("modelcontext/save()"), arguments: StoreKind.allCases)
    func `A save writes insertions, changes and deletions together`(kind: StoreKind) throws {
        let stack = try Stack(kind, Bed.self), changed = Bed(number: 1), deleted = Bed(number: 2)
        try stack.save(changed, deleted)
        changed.number = 7
        stack.context.delete(deleted)
        stack.context.insert(Bed(number: 3))
        try stack.context.save()
        #expect(try stack.stored(Bed.self, by: SortDescriptor(\.number)).map(\.number) == [3, 7])
    }

    // MARK: Deletions

    @Test(.reference("modelcontext/delete(_:)"), arguments: StoreKind.allCases)
    func `The deletion of a new model discards it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        stack.context.delete(garden)
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 0)
        #expect(stack.context.insertedModelsArray.isEmpty && stack.context.deletedModelsArray.isEmpty)
    }

    @Test(deletion, arguments: StoreKind.allCases)
    func `Before the save a deleted model says so, and is in its context`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        #expect(!garden.isDeleted)
        stack.context.delete(garden)
        #expect(garden.isDeleted && garden.modelContext != nil && stack.context.deletedModelsArray.count == 1)
        #expect(try stack.count(Garden.self) == 1)
    }

    @Test(deletion, arguments: StoreKind.allCases)
    func `After the save a deleted model is not marked any more, and has no context`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        stack.context.delete(garden)
        try stack.context.save()
        #expect(!garden.isDeleted && garden.modelContext == nil && stack.context.deletedModelsArray.isEmpty)
    }

    @Test(
        .source(
            "Hacking with Swift, How to delete all instances of a particular model",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-delete-all-instances-of-a-particular-model"),
        arguments: StoreKind.allCases)
    func `All models of a class can be deleted, or those that a predicate chooses`(kind: StoreKind) throws {
        let stack = try Stack(kind, Bed.self)
        for number in 1...6 { stack.context.insert(Bed(number: number)) }
        try stack.context.save()
        try stack.context.delete(model: Bed.self, where: #Predicate { $0.number > 4 })
        try stack.context.save()
        #expect(try stack.stored(Bed.self, by: SortDescriptor(\.number)).map(\.number) == [1, 2, 3, 4])
        try stack.context.delete(model: Bed.self)
        try stack.context.save()
        #expect(try stack.count(Bed.self) == 0)
    }

    @Test(
        .source(
            "Hacking with Swift, How to delete all instances of a particular model",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-delete-all-instances-of-a-particular-model"),
        arguments: StoreKind.allCases)
    func `The deletion of all models of a class reaches the store with the save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Bed.self)
        try stack.save(Bed(number: 1))
        try stack.context.delete(model: Bed.self)
        #expect(try stack.count(Bed.self) == 1)
        stack.context.rollback()
        #expect(try stack.context.fetchCount(FetchDescriptor<Bed>()) == 1)
    }

    // MARK: Rollback

    @Test(.reference("modelcontext/insert(_:)"), arguments: StoreKind.allCases)
    func `A rollback discards the models that were inserted since the save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        stack.context.rollback()
        #expect(!stack.context.hasChanges && garden.modelContext == nil)
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 0)
    }

    @Test(.reference("modelcontext/rollback()"), arguments: StoreKind.allCases)
    func `A rollback gives changed models their saved values, and takes deletions back`(kind: StoreKind) throws {
        let stack = try Stack(kind, Specimen.self), changed = Specimen(number: 1), deleted = Specimen(number: 2)
        (changed.text, changed.spot, changed.tags) = ("saved", Spot(x: 1, y: 1), ["a"])
        try stack.save(changed, deleted)
        (changed.text, changed.spot.x, changed.note) = ("changed", 9, "new")
        changed.tags.append("b")
        stack.context.delete(deleted)
        stack.context.rollback()
        #expect(changed.text == "saved" && changed.spot.x == 1 && changed.note == nil && changed.tags == ["a"])
        #expect(!deleted.isDeleted && deleted.modelContext != nil && !stack.context.hasChanges)
    }

    @Test(.reference("modelcontext/rollback()"), arguments: StoreKind.allCases)
    func `A rollback restores both ends of relationships`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1, garden: garden)
        try stack.save(bed)
        bed.garden = nil
        garden.beds.append(Bed(number: 2))
        stack.context.rollback()
        #expect(bed.garden === garden && garden.beds == [bed])
    }

    // MARK: Transactions

    @Test(.reference("modelcontext/transaction(block:)"), arguments: StoreKind.allCases)
    func `A transaction saves what its block has done`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.context.transaction {
            stack.context.insert(Garden(name: "Kew"))
            #expect(stack.context.hasChanges)
        }
        #expect(!stack.context.hasChanges)
        #expect(try stack.count(Garden.self) == 1)
    }

    @Test(.reference("modelcontext/transaction(block:)"), arguments: StoreKind.allCases)
    func `A transaction whose block throws saves nothing, and throws the block's error`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(throws: CancellationError.self) {
            try stack.context.transaction {
                stack.context.insert(Garden(name: "Kew"))
                throw CancellationError()
            }
        }
        #expect(try stack.count(Garden.self) == 0)
    }

    // MARK: Several contexts

    @Test(discarding, arguments: StoreKind.allCases)
    func `Changes in a peer context are its own until it saves them, and go with it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        do {
            let editing = stack.other(), edited = try #require(editing.model(for: garden.id) as? Garden)
            edited.area = 8
            #expect(garden.area == 0)
        }
        #expect(try stack.stored(Garden.self).map(\.area) == [0])
    }

    @Test(discarding, arguments: StoreKind.allCases)
    func `A fetch shows what another context has saved, in the models that the program holds`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let editing = stack.other(), edited = try #require(editing.model(for: garden.id) as? Garden)
        edited.area = 8
        editing.insert(Garden(name: "Wisley"))
        try editing.save()
        #expect(try stack.context.fetchCount(FetchDescriptor<Garden>()) == 2)
        #expect(garden.area == 8)
    }

    @Test(.reference("modelcontext/container"), arguments: StoreKind.allCases)
    func `A context knows its container, and is equal to itself alone`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(stack.context.container == stack.container && stack.context == stack.context && stack.context != stack.other())
    }

    @Test(.reference("modelcontext/editingstate"), arguments: StoreKind.allCases)
    func `Each context has an editing state of its own`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(stack.context.editingState.id == stack.context.editingState.id)
        #expect(stack.context.editingState.id != stack.other().editingState.id && stack.context.editingState.author == nil)
    }

    @Test(.reference("modelcontext/author"), arguments: StoreKind.allCases)
    func `The author of a context is the author in its editing state`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(stack.context.author == nil)
        stack.context.author = "import"
        #expect(stack.context.editingState.author == "import")
    }
}

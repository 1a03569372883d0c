import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// An object that records its callbacks.
final class Witness: NSManagedObject {
    static var diary: [String] = []
    static var onFetch: ((Witness) -> Void)?
    static var onWillSave: ((Witness) -> Void)?
    static var onDidSave: ((Witness) -> Void)?
    static var onDeletion: ((Witness) -> Void)?

    /// The entries since the last look.
    static func take() -> [String] {
        defer { diary = [] }
        return diary
    }

    static func forget() {
        diary = []
        (onFetch, onWillSave, onDidSave, onDeletion) = (nil, nil, nil, nil)
    }

    private func note(_ line: String) { Self.diary.append(line) }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        note("awakeFromInsert")
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        note("awakeFromFetch")
        Self.onFetch?(self)
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        let names: [(NSSnapshotEventType, String)] = [
            (.undoInsertion, "undoInsertion"), (.undoDeletion, "undoDeletion"), (.undoUpdate, "undoUpdate"), (.rollback, "rollback"),
            (.refresh, "refresh"), (.mergePolicy, "mergePolicy"),
        ]
        for (flag, name) in names where flags.contains(flag) { note(name) }
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        note("prepareForDeletion")
        Self.onDeletion?(self)
    }

    override func willSave() {
        super.willSave()
        note("willSave")
        Self.onWillSave?(self)
    }

    override func didSave() {
        super.didSave()
        note("didSave")
        Self.onDidSave?(self)
    }

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        note("willTurnIntoFault \(isFault)")
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        note("didTurnIntoFault \(isFault)")
    }
}

@MainActor struct LifeCycleQuestions {
    /// Items that are witnesses, with a cascading relationship to their parts.
    private func stack(_ kind: StoreKind) throws -> Stack {
        let item = Sketch.entity(
            "Item",
            [Sketch.attribute("name", default: "unnamed"), Sketch.attribute("number", .integer64AttributeType), Sketch.transient("mood")],
            of: Witness.self)
        Sketch.pair(
            Sketch.relationship(item, "parts", .many, to: item, rule: .cascadeDeleteRule),
            Sketch.relationship(item, "whole", .one, to: item))
        Witness.forget()
        return try Stack(kind, Sketch.model(item))
    }

    @Test(.reference("nsmanagedobject/awakefrominsert()"), arguments: StoreKind.allCases)
    func `awakeFromInsert is called once in an object's life`(kind: StoreKind) throws {
        let stack = try stack(kind), item = stack.new("Item")
        try stack.context.save()
        stack.context.refresh(item, mergeChanges: false)
        _ = item.text("name")
        #expect(Witness.take().filter { $0 == "awakeFromInsert" }.count == 1)
    }

    @Test(.reference("nsmanagedobject/awakefrominsert()"), arguments: StoreKind.allCases)
    func `An object without a context is awoken once it is inserted into one`(kind: StoreKind) throws {
        let stack = try stack(kind), entity = try #require(NSEntityDescription.entity(forEntityName: "Item", in: stack.context))
        let item = Witness(entity: entity, insertInto: nil)
        #expect(Witness.take() == [] && item.managedObjectContext == nil)
        stack.context.insert(item)
        #expect(Witness.take() == ["awakeFromInsert"] && item.isInserted)
    }

    @Test(.reference("nsattributedescription/defaultvalue"), arguments: StoreKind.allCases)
    func `A new object has its attributes' default values`(kind: StoreKind) throws {
        let item = try stack(kind).new("Item")
        #expect(item.text("name") == "unnamed" && item.value(forKey: "number") == nil)
    }

    @Test(.header("NSManagedObject", "awakeFromFetch"), arguments: StoreKind.allCases)
    func `awakeFromFetch is called when a fault fires, not when the fault is made`(kind: StoreKind) throws {
        let stack = try stack(kind)
        try stack.saved("Item")
        let other = stack.sibling(), item = try stack.only("Item", in: other)
        _ = Witness.take()
        _ = item.text("name")
        #expect(Witness.take() == ["awakeFromFetch"])
        _ = item.int("number")
        #expect(Witness.take() == [])
    }

    @Test(.header("NSManagedObject", "awakeFromFetch"), arguments: StoreKind.allCases)
    func `A fault that was fired, turned back and fired again is awoken again`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        stack.context.refresh(item, mergeChanges: false)
        _ = Witness.take()
        _ = item.text("name")
        #expect(Witness.take() == ["awakeFromFetch"])
    }

    @Test(.reference("nsmanagedobject/awakefromfetch()"), arguments: StoreKind.allCases)
    func `A public setter in awakeFromFetch does not make the object dirty`(kind: StoreKind) throws {
        let stack = try stack(kind)
        try stack.saved("Item")
        let other = stack.sibling(), item = try stack.only("Item", in: other)
        Witness.onFetch = { $0.setValue("glad", forKey: "mood") }
        _ = item.text("name")
        #expect(item.text("mood") == "glad" && !item.hasChanges && !other.hasChanges)
    }

    @Test(.header("NSManagedObject", "willSave, didSave"), arguments: StoreKind.allCases)
    func `A save calls willSave, then didSave`(kind: StoreKind) throws {
        let stack = try stack(kind)
        stack.new("Item")
        _ = Witness.take()
        try stack.context.save()
        #expect(Witness.take() == ["willSave", "didSave"])
    }

    @Test(.reference("nsmanagedobject/didsave()"), arguments: StoreKind.allCases)
    func `All objects' willSave come before any object's didSave`(kind: StoreKind) throws {
        let stack = try stack(kind)
        for _ in 1...3 { stack.new("Item") }
        _ = Witness.take()
        try stack.context.save()
        #expect(Witness.take() == Array(repeating: "willSave", count: 3) + Array(repeating: "didSave", count: 3))
    }

    @Test(.reference("nsmanagedobject/willsave()"), arguments: StoreKind.allCases)
    func `An object without changes hears nothing of a save`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let quiet = try stack.saved("Item", ["name": "quiet"])
        stack.new("Item")
        var saved: [Witness] = []
        Witness.onWillSave = { saved.append($0) }
        try stack.context.save()
        #expect(saved.count == 1 && !saved.contains(quiet as! Witness))
    }

    @Test(.reference("nsmanagedobject/willsave()"), arguments: StoreKind.allCases)
    func `A change by a setter in willSave is saved, and willSave is called again`(kind: StoreKind) throws {
        let stack = try stack(kind), item = stack.new("Item")
        _ = Witness.take()
        Witness.onWillSave = { if $0.int("number") != 7 { $0.setValue(7, forKey: "number") } }
        try stack.context.save()
        #expect(Witness.take() == ["willSave", "willSave", "didSave"] && !item.hasChanges)
        #expect(try stack.only("Item", in: stack.sibling()).int("number") == 7)
    }

    @Test(.header("NSManagedObject", "willSave: timestamps and the like"), arguments: StoreKind.allCases)
    func `A required value that willSave sets is there when the save validates`(kind: StoreKind) throws {
        Witness.forget()
        let stack = try Stack(kind, Sketch.items([Sketch.attribute("stamp", .dateAttributeType, optional: false)], of: Witness.self))
        stack.new("Item")
        Witness.onWillSave = { if $0.value(forKey: "stamp") == nil { $0.setValue(Date(), forKey: "stamp") } }
        #expect(stack.codes() == [])
    }

    @Test(.reference("nsmanagedobject/willsave()"), arguments: StoreKind.allCases)
    func `A save calls willSave and didSave of a deleted object, which says so in willSave`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        stack.context.delete(item)
        stack.context.processPendingChanges()
        _ = Witness.take()
        var deleted: [Bool] = []
        Witness.onWillSave = { deleted.append($0.isDeleted) }
        try stack.context.save()
        #expect(Witness.take().filter { $0.hasSuffix("Save") } == ["willSave", "didSave"] && deleted == [true])
    }

    @Test(.reference("nsmanagedobject/didsave()"), arguments: StoreKind.allCases)
    func `A change that didSave makes stays unsaved`(kind: StoreKind) throws {
        let stack = try stack(kind), item = stack.new("Item")
        Witness.onDidSave = { $0.setValue("later", forKey: "name") }
        try stack.context.save()
        #expect(item.hasChanges && stack.context.hasChanges)
        #expect(try stack.only("Item", in: stack.sibling()).text("name") == "unnamed")
    }

    @Test(.header("NSManagedObject", "prepareForDeletion"), arguments: StoreKind.allCases)
    func `prepareForDeletion comes while relationships are still there`(kind: StoreKind) throws {
        let stack = try stack(kind), whole = stack.new("Item")
        stack.new("Item", ["whole": whole])
        try stack.context.save()
        var seen: [Int] = []
        Witness.onDeletion = { seen.append($0.members("parts").count) }
        stack.context.delete(whole)
        #expect(seen.first == 1)
    }

    @Test(.header("NSManagedObject", "prepareForDeletion"), arguments: StoreKind.allCases)
    func `prepareForDeletion comes to objects that a cascade deletes`(kind: StoreKind) throws {
        let stack = try stack(kind), whole = stack.new("Item")
        for _ in 1...2 { stack.new("Item", ["whole": whole]) }
        try stack.context.save()
        _ = Witness.take()
        stack.context.delete(whole)
        stack.context.processPendingChanges()
        #expect(Witness.take().filter { $0 == "prepareForDeletion" }.count == 3)
    }

    @Test(.header("NSManagedObject", "willTurnIntoFault, didTurnIntoFault"), arguments: StoreKind.allCases)
    func `An object that turns into a fault is none yet in willTurnIntoFault, and is one in didTurnIntoFault`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        _ = Witness.take()
        stack.context.refresh(item, mergeChanges: false)
        #expect(Witness.take() == ["willTurnIntoFault false", "didTurnIntoFault true"])
    }

    @Test(.reference("nssnapshoteventtype"), arguments: StoreKind.allCases)
    func `A rollback awakes changed objects with its event`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        item.setValue("other", forKey: "name")
        stack.context.processPendingChanges()
        _ = Witness.take()
        stack.context.rollback()
        #expect(Witness.take().contains("rollback"))
    }

    @Test(.reference("nssnapshoteventtype"), arguments: StoreKind.allCases)
    func `A refresh that merges awakes a changed object with its event`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        item.setValue("other", forKey: "name")
        stack.context.processPendingChanges()
        _ = Witness.take()
        stack.context.refresh(item, mergeChanges: true)
        #expect(Witness.take().contains("refresh"))
    }

    @Test(.reference("nssnapshoteventtype"), arguments: ["undoInsertion", "undoDeletion", "undoUpdate"])
    func `Undoing awakes objects with the event of what was undone`(event: String) throws {
        let stack = try stack(.inMemory), item = event == "undoInsertion" ? nil : try stack.saved("Item")
        let manager = UndoManager()
        manager.groupsByEvent = false
        stack.context.undoManager = manager
        manager.beginUndoGrouping()
        switch event {
        case "undoInsertion": stack.new("Item")
        case "undoDeletion": stack.context.delete(try #require(item))
        default: item?.setValue("other", forKey: "name")
        }
        stack.context.processPendingChanges()
        manager.endUndoGrouping()
        _ = Witness.take()
        stack.context.undo()
        #expect(Witness.take().contains(event))
    }

    @Test(.reference("nsmanagedobject/isinserted"), arguments: StoreKind.allCases)
    func `A new object is inserted until it is saved`(kind: StoreKind) throws {
        let stack = try stack(kind), item = stack.new("Item")
        #expect(item.isInserted && item.hasChanges && stack.context.insertedObjects == [item])
        try stack.context.save()
        #expect(!item.isInserted && !item.hasChanges && stack.context.insertedObjects.isEmpty)
    }

    @Test(.reference("nsmanagedobject/isupdated"), arguments: StoreKind.allCases)
    func `A changed object is updated until it is saved`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        #expect(!item.isUpdated)
        item.setValue("other", forKey: "name")
        #expect(item.isUpdated && stack.context.updatedObjects == [item])
        try stack.context.save()
        #expect(!item.isUpdated && stack.context.updatedObjects.isEmpty)
    }

    @Test(.reference("nsmanagedobject/isdeleted"), arguments: StoreKind.allCases)
    func `A deleted object says so until the save, and not after`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        stack.context.delete(item)
        #expect(item.isDeleted && stack.context.deletedObjects == [item])
        try stack.context.save()
        #expect(!item.isDeleted && stack.context.deletedObjects.isEmpty)
    }

    @Test(.reference("nsmanagedobject/managedobjectcontext"), arguments: StoreKind.allCases)
    func `An object whose deletion is saved has no context`(kind: StoreKind) throws {
        let stack = try stack(kind), item = try stack.saved("Item")
        stack.context.delete(item)
        #expect(item.managedObjectContext === stack.context)
        try stack.context.save()
        #expect(item.managedObjectContext == nil)
    }

    @Test(.reference("nsmanagedobjectcontext/delete(_:)"), arguments: StoreKind.allCases)
    func `Deleting what was never saved takes it out of the context`(kind: StoreKind) throws {
        let stack = try stack(kind), item = stack.new("Item")
        stack.context.delete(item)
        stack.context.processPendingChanges()
        #expect(stack.context.insertedObjects.isEmpty && stack.context.deletedObjects.isEmpty && !stack.context.hasChanges)
    }
}

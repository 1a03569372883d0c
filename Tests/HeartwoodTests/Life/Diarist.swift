import Foundation
import Heartwood

/// An object that records its callbacks.
final class Diarist: NSManagedObject {
    var diary: [String] = []
    var onWake: ((Diarist) -> Void)?
    var onWillSave: ((Diarist) -> Void)?
    var onDidSave: ((Diarist) -> Void)?

    var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }

    /// The entries since the last look.
    func look() -> [String] {
        defer { diary = [] }
        return diary
    }

    override func awakeFromInsert() { diary.append("inserted") }

    override func awakeFromFetch() {
        diary.append("fetched")
        setValue("made on waking", forKey: "note")
        onWake?(self)
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        let names: [(NSSnapshotEventType, String)] = [
            (.rollback, "rolled back"), (.refresh, "refreshed"), (.undoInsertion, "insertion undone"),
            (.undoDeletion, "deletion undone"), (.undoUpdate, "update undone"), (.mergePolicy, "merged by policy"),
        ]
        diary.append(names.filter { flags.contains($0.0) }.map(\.1).joined(separator: ", "))
        if flags.contains(.undoUpdate) { onWake?(self) }
    }

    override func prepareForDeletion() { diary.append("deleting \(isDeleted)") }

    override func willSave() {
        diary.append("saving")
        onWillSave?(self)
    }

    override func didSave() {
        diary.append("saved \(isDeleted)")
        onDidSave?(self)
    }

    override func willTurnIntoFault() { diary.append("leaving \(title ?? "nil")") }
    override func didTurnIntoFault() { diary.append("left \(isFault)") }

    /// Diarists (a title, a transient note, a count from 7, friends of each other) on a store.
    static func stack(_ kind: StoreKind) throws -> TestStack {
        let entity = NSEntityDescription()
        entity.name = "Diarist"
        entity.managedObjectClassName = NSStringFromClass(Diarist.self)
        let note = TestStack.attribute("note", .stringAttributeType)
        note.isTransient = true
        let friends = TestStack.relationship("friends", to: entity, toMany: true)
        friends.inverseRelationship = friends
        entity.properties = [
            TestStack.attribute("title", .stringAttributeType, default: "untitled"), note,
            TestStack.attribute("count", .integer64AttributeType, default: 7), friends,
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return try TestStack(kind, model: model)
    }
}

extension TestStack {
    func insertDiarist(_ title: String) -> Diarist {
        insert("Diarist", ["title": title]) as! Diarist
    }

    /// A saved diarist with an empty diary.
    func savedDiarist(_ title: String) throws -> Diarist {
        let diarist = insertDiarist(title)
        try context.save()
        _ = diarist.look()
        return diarist
    }
}

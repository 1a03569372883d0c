// An address book too large to archive: a million contacts (or as many as the first argument says) stream in, are walked and looked
// up, and memory stays where it is.
import Foundation
import Heartwood

final class Contact: NSManagedObject {
    var number: Int {
        get { value(forKey: "number") as? Int ?? 0 }
        set { setValue(newValue, forKey: "number") }
    }

    var name: String {
        get { value(forKey: "name") as? String ?? "" }
        set { setValue(newValue, forKey: "name") }
    }
}

let number = NSAttributeDescription(), name = NSAttributeDescription(), street = NSAttributeDescription()
(number.name, number.attributeType) = ("number", .integer64AttributeType)
(name.name, name.attributeType) = ("name", .stringAttributeType)
(street.name, street.attributeType) = ("street", .stringAttributeType)
let entity = NSEntityDescription()
entity.name = "Contact"
entity.managedObjectClassName = NSStringFromClass(Contact.self)
entity.properties = [number, name, street]
entity.indexes = [number, name].map { attribute in
    NSFetchIndexDescription(name: attribute.name, elements: [NSFetchIndexElementDescription(property: attribute, collationType: .binary)])
}
let model = NSManagedObjectModel()
model.entities = [entity]

let total = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
let place = FileManager.default.temporaryDirectory.appendingPathComponent("contacts-\(UUID().uuidString).heartwood")
let container = NSPersistentContainer(name: "Contacts", managedObjectModel: model)
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
container.loadPersistentStores { _, error in precondition(error == nil, "\(String(describing: error))") }
defer { try? FileManager.default.removeItem(at: place) }

func title(_ index: Int) -> String { "Contact \(String(UInt64(index) &* 0x9E37_79B9_7F4A_7C15, radix: 36))" }
func report(_ what: String) { print("\(what): \(MemoryFigure.text)") }

/// Ends the program where memory has grown since `before`, by more than a small part of what all contacts would take.
func expectFlat(since before: Double?, _ what: String) {
    guard let before, let now = MemoryFigure.mebibytes else { return }
    precondition(now - before < 64, "\(what) took \(now - before) MiB")
}

// In: the handler is asked for one row after the other, and every 20,000 are a commit of their own. No object is made.
report("Before")
let writer = container.newBackgroundContext()
try writer.performAndWait {
    var next = 0
    var early: Double?
    let insert = NSBatchInsertRequest(entity: entity, dictionaryHandler: { row in
        guard next < total else { return true }
        row["number"] = next
        row["name"] = title(next)
        row["street"] = "\(next % 997) Heartwood Lane"
        next += 1
        if next == total / 4 { early = MemoryFigure.mebibytes }
        return false
    })
    insert.rowsPerCommit = 20_000
    insert.resultType = .count
    let inserted = (try writer.execute(insert) as? NSBatchInsertResult)?.result as? Int
    precondition(inserted == total)
    report("\(total) contacts streamed in")
    expectFlat(since: early, "The last three quarters of the stream")
}

// Walked: ranges of the indexed number, a thousand objects at a time. Each is a fault, a key and a pointer into the file, until a
// property is asked for; what nothing refers to any more goes at the next fetch.
let reader = container.newBackgroundContext()
let letters = try reader.performAndWait {
    var letters = 0
    var early: Double?
    for start in stride(from: 0, to: total, by: 1000) {
        let page = NSFetchRequest<Contact>(entityName: "Contact")
        page.predicate = NSPredicate(format: "number >= %lld AND number < %lld", start, start + 1000)
        for contact in try reader.fetch(page) { letters += contact.name.utf8.count }
        if start >= total / 4, early == nil { early = MemoryFigure.mebibytes }
    }
    report("All walked")
    expectFlat(since: early, "The last three quarters of the walk")
    return letters
}
let expected = (0..<total).reduce(0) { $0 + title($1).utf8.count }
precondition(letters == expected)

// Looked up by name, through an index: one row is read.
let request = NSFetchRequest<Contact>(entityName: "Contact")
request.predicate = NSPredicate(format: "name == %@", title(total / 2))
let found = try container.viewContext.fetch(request)
precondition(found.count == 1 && found[0].number == total / 2)

// The first screen of a list: all of them in order, fifty of them real.
let list = NSFetchRequest<Contact>(entityName: "Contact")
list.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
list.fetchLimit = 50
let screen = try container.viewContext.fetch(list)
print("The list begins with \(screen[0].name); number \(total / 2) is \(found[0].name)")
precondition(screen.count == 50 && screen[0].name < screen[49].name)
report("At the end")

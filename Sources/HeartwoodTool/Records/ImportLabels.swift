import Foundation
import Heartwood

/// The objects of an import by their labels: what a line calls its object (`@id`), so that other lines can name an object without a key.
///
/// A label is any text. One that is the URI of an object in the store that is imported into, and that no line has as its label, is that object.
final class ImportLabels {
    private let context: NSManagedObjectContext
    /// Those of the current batch, which have no lasting ID yet.
    private var objects: [ExactText: NSManagedObject] = [:]
    private var saved: [ExactText: NSManagedObjectID] = [:]
    /// The lines that named an object first whose own line has not come.
    private var awaitedLines: [ExactText: Int] = [:]

    init(context: NSManagedObjectContext) {
        self.context = context
    }

    func find(_ label: String) throws -> NSManagedObject? {
        let key = ExactText(label)
        if let known = objects[key] { return known }
        if let known = saved[key] { return context.object(with: known) }
        guard let uri = URL(string: label), uri.scheme == "x-coredata",
            let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri), let found = try? context.existingObject(with: id)
        else { return nil }
        saved[key] = id
        return found
    }

    func add(_ object: NSManagedObject, _ label: String) { objects[ExactText(label)] = object }

    /// Notes that this object is there for another's sake.
    func await(_ object: NSManagedObject, _ label: String, line: Int) {
        add(object, label)
        awaitedLines[ExactText(label)] = line
    }

    /// - Returns: whether the object of this line was there for another's sake.
    func arrived(_ label: String) -> Bool { awaitedLines.removeValue(forKey: ExactText(label)) != nil }

    /// Takes the IDs of what was saved.
    func endBatch() {
        for (label, object) in objects { saved[label] = object.objectID }
        objects.removeAll(keepingCapacity: true)
    }

    /// What was named and never came: the first line of all that named one, and its label.
    var firstAwaited: (line: Int, label: String, count: Int)? {
        awaitedLines.min { $0.value < $1.value }.map { ($0.value, $0.key.text, awaitedLines.count) }
    }

    /// Objects of the store that were made for others' sake.
    var savedAwaited: [NSManagedObjectID] { awaitedLines.keys.compactMap { saved[$0] } }

    /// The entity that a URI names.
    static func entityName(in label: String) -> String? {
        guard let uri = URL(string: label), uri.scheme == "x-coredata", uri.pathComponents.count == 3 else { return nil }
        return uri.pathComponents[1]
    }
}

import Foundation
import Heartwood

/// The objects of an import by their labels. A line labels its object (`@id`), so that other lines can refer to an object without a key.
///
/// A label is any text. A label that no line has may be the URI of an object in the target store, and then refers to that object.
final class ImportLabels {
    private let context: NSManagedObjectContext
    /// Objects of the current batch, which have no permanent ID yet.
    private var objects: [ExactText: NSManagedObject] = [:]
    private var saved: [ExactText: NSManagedObjectID] = [:]
    /// For each label without a line so far, the first line that refers to it.
    private var unresolvedLines: [ExactText: Int] = [:]

    init(context: NSManagedObjectContext) {
        self.context = context
    }

    func find(_ label: String) throws -> NSManagedObject? {
        let key = ExactText(label)
        if let known = objects[key] { return known }
        if let known = saved[key] { return context.object(with: known) }
        guard let uri = URL(string: label), uri.scheme == "x-coredata",
            let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri),
                let found = try? context.existingObject(with: id)
        else { return nil }
        saved[key] = id
        return found
    }

    func add(_ object: NSManagedObject, _ label: String) { objects[ExactText(label)] = object }

    /// Notes that this object was made because another line refers to it.
    func await(_ object: NSManagedObject, _ label: String, line: Int) {
        add(object, label)
        unresolvedLines[ExactText(label)] = line
    }

    /// - Returns: whether the object of this line was made because another line refers to it.
    func arrived(_ label: String) -> Bool { unresolvedLines.removeValue(forKey: ExactText(label)) != nil }

    /// Takes over the permanent IDs of saved objects.
    func endBatch() {
        for (label, object) in objects { saved[label] = object.objectID }
        objects.removeAll(keepingCapacity: true)
    }

    /// The labels that were referred to and have no line: the first such line, its label, and their number.
    var firstUnresolved: (line: Int, label: String, count: Int)? {
        unresolvedLines.min { $0.value < $1.value }.map { ($0.value, $0.key.text, unresolvedLines.count) }
    }

    /// Saved objects that were made only because other lines refer to them.
    var savedUnresolved: [NSManagedObjectID] { unresolvedLines.keys.compactMap { saved[$0] } }

    /// The entity's name in a URI.
    static func entityName(in label: String) -> String? {
        URL(string: label).flatMap(NSManagedObjectID.parts)?.entity
    }
}

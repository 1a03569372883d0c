import Foundation
import Heartwood

/// The references to objects that do not exist. An export leaves them out: an import would refuse them.
final class DanglingReferences {
    private(set) var count = 0
    private var lines: [String] = []

    private static let linesMax = 20

    /// Whether a reference leads to an object. Notes one that does not.
    func leads(to destination: NSManagedObject, from object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
        guard destination.isFault, let context = object.managedObjectContext else { return true }
        do {
            _ = try context.existingObject(with: destination.objectID)
            return true
        } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {
            note(destination.objectID.text, from: object.objectID.text, relationship)
            return false
        } catch {
            // The export ends with this error when it reads on.
            return true
        }
    }

    /// Notes a reference to an object that does not exist.
    func note(_ destination: @autoclosure () -> String, from object: @autoclosure () -> String, _ relationship: NSRelationshipDescription) {
        count += 1
        if lines.count < Self.linesMax { lines.append("\(object()), \(relationship.name): \(destination()) does not exist") }
    }

    /// Tells on standard error of the references that were left out.
    func warn() {
        guard count > 0 else { return }
        Output.warning("\(Output.count(count, "reference")) lead\(count == 1 ? "s" : "") nowhere and \(count == 1 ? "is" : "are") left out:")
        for line in lines { Output.error("  \(DisplayWidth.printable(line))") }
        if count > lines.count { Output.error("  … and \(Output.number(count - lines.count)) more") }
    }
}

import Foundation
import Heartwood

/// The reason why an object cannot be saved.
struct Refusal {
    /// The object's URI; nil for a reason that concerns no single object.
    let object: String?
    let reason: String

    var line: String { object.map { "\($0): \(reason)" } ?? reason }

    init(object: String, reason: String) { (self.object, self.reason) = (object, reason) }

    private init(_ error: NSError) {
        let known = error.userInfo[NSValidationObjectErrorKey] ?? (error.userInfo[NSAffectedObjectsErrorKey] as? [Any])?.first
        object = (known as? NSManagedObject)?.objectID.text
        reason = ToolError.message(of: error)
    }

    /// The reasons behind a save's error.
    static func list(_ error: any Error) -> [Refusal] {
        let error = error as NSError
        let parts = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        return parts.isEmpty ? [Refusal(error)] : parts.map { Refusal($0) }
    }

    /// The reasons that the model has against a context's changes, but for unique values (`UniqueValues`).
    static func list(validating context: NSManagedObjectContext) -> [Refusal] {
        let deleted = context.deletedObjects.flatMap { object in reasons { try object.validateForDelete() } }
        return deleted + context.updatedObjects.flatMap { object in reasons { try object.validateForUpdate() } }
    }

    private static func reasons(_ validate: () throws -> Void) -> [Refusal] {
        do {
            try validate()
            return []
        } catch {
            return list(error)
        }
    }
}

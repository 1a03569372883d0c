import Foundation
import Heartwood

/// Values that the server cannot have as a record log has them.
enum UnfitValue {
    static let noNumber = "is no number, which the server takes for equal to itself"
    static let text = "contains U+0000 or has a gigabyte, and the server takes neither"

    static func size(_ count: Int) -> String { "has \(count) bytes, and the server takes less than a gigabyte" }

    /// Error 1550.
    /// - Parameter owner: the entity, or the object.
    static func error(_ owner: String, _ property: String, _ reason: String) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError, "\(owner).\(property) cannot be saved to a PostgreSQL store: its value \(reason).",
            [NSValidationKeyErrorKey: property])
    }
}

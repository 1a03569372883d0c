import Foundation
import Heartwood

extension NSManagedObjectID {
    /// The URI as the tool writes and reads it.
    var text: String { uriRepresentation().absoluteString }
}

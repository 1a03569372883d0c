import Foundation

extension NSManagedObject: CustomReflectable {
    /// The object's entity and ID. `dump`, debuggers and the failed expectations of a test read every stored property of what they show, and the
    /// object's own refer to a context that may be gone.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["entity": entity.name ?? "?", "objectID": objectID.uriRepresentation().absoluteString], displayStyle: .class,
            ancestorRepresentation: .suppressed)
    }
}

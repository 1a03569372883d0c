/// Lets a class method in an extension call `self.init(managedObjectModel:)`. Swift allows that only for required initializers, which every
/// subclass would have to repeat.
public protocol _MadeOfModel {}

extension NSPersistentStoreCoordinator: _MadeOfModel {}

extension _MadeOfModel {
    /// - Precondition: the class is `NSPersistentStoreCoordinator` itself. A subclass is made by its name: `Sub(managedObjectModel:
    ///   model)`.
    public init(managedObjectModel model: NSManagedObjectModel, _ _: Void = ()) {
        guard let made = NSPersistentStoreCoordinator(managedObjectModel: model) as? Self else {
            misuse("\(Self.self) is made by its name, not by self.init(managedObjectModel:).")
        }
        self = made
    }
}

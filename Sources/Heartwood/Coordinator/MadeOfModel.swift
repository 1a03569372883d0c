/// Has `self.init(managedObjectModel:)` in a class method of an extension, which Swift allows for required initializers alone. A required one would
/// have to be stated by every subclass.
public protocol MadeOfModel {}

extension NSPersistentStoreCoordinator: MadeOfModel {}

extension MadeOfModel {
    /// - Precondition: the class is `NSPersistentStoreCoordinator` itself; a subclass names itself: `Sub(managedObjectModel: model)`.
    public init(managedObjectModel model: NSManagedObjectModel, _ _: Void = ()) {
        guard let made = NSPersistentStoreCoordinator(managedObjectModel: model) as? Self else {
            preconditionFailure("\(Self.self) is made by its name, not by self.init(managedObjectModel:).")
        }
        self = made
    }
}

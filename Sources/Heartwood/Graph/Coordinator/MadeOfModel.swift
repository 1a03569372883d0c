/// Lets a class method of an extension call `self.init(managedObjectModel:)`. Swift allows that for required initializers alone, and
/// each subclass would have to state a required one.
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

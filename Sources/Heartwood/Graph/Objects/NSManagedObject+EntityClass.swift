/// Code for Core Data writes `NSManagedObject(entity: entity, insertInto: context) as? Plant`, and gets an object of the entity's class. A Swift
/// class's initializer cannot return an instance of another class. A protocol's initializer can, but `super.init` of a direct subclass would find
/// it too and not compile. So the object changes its own class to its entity's (`ClassChange`), in its initializer, before any code of the program
/// sees it.
extension NSManagedObject {
    /// Changes the class of an object that was made as a plain `NSManagedObject` to its entity's class.
    /// - Precondition: the class has no stored properties of its own.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject/init(entity:insertinto:)
    final func takeEntityClass(_ objectClass: NSManagedObject.Type) {
        guard type(of: self) == NSManagedObject.self, objectClass != NSManagedObject.self else { return }
        demand(
            ClassChange.isPossible(from: NSManagedObject.self, to: objectClass),
            "\(objectClass) has stored properties of its own, which NSManagedObject(entity:insertInto:) cannot initialize off Apple's platforms. "
                + "Write \(objectClass)(entity: entity, insertInto: context) or NSEntityDescription.insertNewObject(forEntityName:into:).")
        ClassChange.change(self, to: objectClass)
    }
}

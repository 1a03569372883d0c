/// Code for Core Data says `NSManagedObject(entity: entity, insertInto: context) as? Plant`, and gets an object of the entity's class. An initializer of
/// a Swift class makes an object of the class that is named, and one of a protocol, which may hand over another object, is also what `super.init` of a
/// direct subclass finds, so that none of those would compile. So the object itself goes over to its entity's class (`ClassChange`), in its
/// initializer, before any code of the program sees it.
extension NSManagedObject {
    /// Gives an object that was made as a plain `NSManagedObject` its entity's class.
    /// - Precondition: the class has no stored properties of its own.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject/init(entity:insertinto:)
    final func takeEntityClass(_ objectClass: NSManagedObject.Type) {
        guard type(of: self) == NSManagedObject.self, objectClass != NSManagedObject.self else { return }
        precondition(
            ClassChange.isPossible(from: NSManagedObject.self, to: objectClass),
            "\(objectClass) has stored properties of its own, which NSManagedObject(entity:insertInto:) cannot initialize off Apple's platforms. Write "
                + "\(objectClass)(entity: entity, insertInto: context) or NSEntityDescription.insertNewObject(forEntityName:into:).")
        ClassChange.change(self, to: objectClass)
    }
}

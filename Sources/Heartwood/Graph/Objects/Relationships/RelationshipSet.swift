import Foundation

/// The result of `mutableSetValue(forKey:)`: a mutable set whose members are those of an object's to-many relationship.
final class RelationshipSet: NSMutableSet {
    private let owner: NSManagedObject
    private let index: Int

    init(owner: NSManagedObject, index: Int) {
        self.owner = owner
        self.index = index
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        misuse("a relationship's set is made by mutableSetValue(forKey:)")
    }

    required convenience init?(coder aDecoder: NSCoder) {
        nil
    }

    override var count: Int { owner.countOfManagedObjects(at: index) }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject else { return nil }
        return owner.containsManagedObject(object, at: index) ? object : nil
    }

    override func anyObject() -> Any? { owner.firstManagedObject(at: index) }

    override func objectEnumerator() -> NSEnumerator {
        NSArray(array: owner.managedObjects(at: index)).objectEnumerator()
    }

    override func add(_ object: Any) {
        owner.addManagedObject(Self.member(object), at: index)
    }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner.removeManagedObject(object, at: index)
    }

    override var allObjects: [Any] { owner.managedObjects(at: index) }

    override func removeAllObjects() {
        owner.setManagedObjects([], at: index)
    }

    override func setSet(_ otherSet: Set<AnyHashable>) {
        owner.setManagedObjects(otherSet.map(Self.member), at: index)
    }

    override var description: String { NSSet(array: allObjects).description }

    /// - Precondition: the object is a managed object.
    static func member(_ object: Any) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            misuse("a relationship holds managed objects, not \(type(of: object))")
        }
        return object
    }
}

import Foundation

/// The result of `mutableOrderedSetValue(forKey:)`: a mutable ordered set whose members are those of an object's ordered relationship.
///
/// Apple's NSMutableOrderedSet implements everything with a few methods that a subclass overrides. On other platforms it implements much with the
/// members that it stores itself. So methods that can be overridden use the relationship, and the stored members follow it for the rest
/// (`firstObject`, `lastObject`, `reversed`, enumerators).
final class RelationshipOrderedSet: NSMutableOrderedSet {
    private let owner: NSManagedObject
    private let index: Int
    /// Whether the stored members are being changed: the overrides then use them.
    private var isFollowing = false

    init(owner: NSManagedObject, index: Int) {
        self.owner = owner
        self.index = index
        super.init(capacity: 0)
        follow()
    }

    required convenience init(arrayLiteral elements: Any...) {
        misuse("a relationship's ordered set is made by mutableOrderedSetValue(forKey:)")
    }

    required convenience init?(coder aDecoder: NSCoder) {
        misuse("a relationship's ordered set is made by mutableOrderedSetValue(forKey:)")
    }

    // MARK: Following

    private var members: [NSManagedObject] { owner.managedObjects(at: index) }

    /// Copies the relationship's members into the stored members.
    private func follow() {
        #if !canImport(ObjectiveC)
            isFollowing = true
            super.removeAllObjects()
            super.addObjects(from: members)
            isFollowing = false
        #endif
    }

    /// Sets the relationship's members to `objects`, in this order.
    private func assign(_ objects: [NSManagedObject]) {
        owner.setManagedObjects(objects, at: index)
        follow()
    }

    private static func members(_ objects: [Any]) -> [NSManagedObject] { objects.map(RelationshipSet.member) }

    // MARK: Looking

    override var count: Int {
        if isFollowing { return super.count }
        let count = owner.countOfManagedObjects(at: index)
        #if !canImport(ObjectiveC)
            // Foundation calls it before it iterates over the stored members.
            if count != super.count { follow() }
        #endif
        return count
    }

    override func object(at position: Int) -> Any {
        isFollowing ? super.object(at: position) : owner.managedObject(atPosition: position, at: index)
    }

    override func index(of object: Any) -> Int {
        if isFollowing { return super.index(of: object) }
        guard let object = object as? NSManagedObject else { return NSNotFound }
        return owner.memberKeys(at: index).firstIndex(of: object.key) ?? NSNotFound
    }

    override func contains(_ object: Any) -> Bool {
        if isFollowing { return super.contains(object) }
        return (object as? NSManagedObject).map { owner.containsManagedObject($0, at: index) } ?? false
    }

    override func sortedArray(options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) -> [Any] {
        members.sorted { comparator($0, $1) == .orderedAscending }
    }

    override var description: String { immutable.description }
    private var immutable: NSOrderedSet { NSOrderedSet(array: members) }

    #if !canImport(ObjectiveC)
        // Foundation's versions of these methods iterate over the stored members.
        override func copy(with zone: NSZone? = nil) -> Any { immutable }
        override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
        override func isEqual(to other: NSOrderedSet) -> Bool { immutable.isEqual(to: other) }
        override func intersects(_ other: NSOrderedSet) -> Bool { immutable.intersects(other) }
        override func intersectsSet(_ set: Set<AnyHashable>) -> Bool { immutable.intersectsSet(set) }
        override func isSubset(of other: NSOrderedSet) -> Bool { immutable.isSubset(of: other) }
        override func isSubset(of set: Set<AnyHashable>) -> Bool { immutable.isSubset(of: set) }
        override func sortedArray(using descriptors: [NSSortDescriptor]) -> [Any] { immutable.sortedArray(using: descriptors) }

        override func enumerateObjects(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) { immutable.enumerateObjects(block) }

        override func enumerateObjects(
            options: NSEnumerationOptions = [], using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
        ) { immutable.enumerateObjects(options: options, using: block) }

        override func enumerateObjects(
            at positions: IndexSet, options: NSEnumerationOptions = [], using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
        ) { immutable.enumerateObjects(at: positions, options: options, using: block) }

        override func index(
            ofObjectAt positions: IndexSet, options: NSEnumerationOptions = [],
            passingTest test: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Bool
        ) -> Int { immutable.index(ofObjectAt: positions, options: options, passingTest: test) }

        override func indexes(
            ofObjectsAt positions: IndexSet, options: NSEnumerationOptions = [],
            passingTest test: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Bool
        ) -> IndexSet { immutable.indexes(ofObjectsAt: positions, options: options, passingTest: test) }
    #endif

    // MARK: Changing

    override func add(_ object: Any) {
        if isFollowing { return super.add(object) }
        owner.addManagedObject(RelationshipSet.member(object), at: index)
        #if !canImport(ObjectiveC)
            isFollowing = true
            super.add(object)
            isFollowing = false
        #endif
    }

    override func addObjects(from array: [Any]) {
        if isFollowing { return super.addObjects(from: array) }
        owner.addManagedObjects(Self.members(array), at: index)
        follow()
    }

    override func insert(_ object: Any, at position: Int) {
        if isFollowing { return super.insert(object, at: position) }
        owner.insertManagedObject(RelationshipSet.member(object), atPosition: position, at: index)
        follow()
    }

    override func insert(_ objects: [Any], at positions: IndexSet) {
        owner.insertManagedObjects(Self.members(objects), atPositions: positions, at: index)
        follow()
    }

    override func removeObject(at position: Int) {
        owner.removeManagedObjects(atPositions: IndexSet(integer: position), at: index)
        follow()
    }

    override func removeObjects(at positions: IndexSet) {
        owner.removeManagedObjects(atPositions: positions, at: index)
        follow()
    }

    override func removeObjects(in range: NSRange) {
        removeObjects(at: IndexSet(integersIn: range.location..<range.location + range.length))
    }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner.removeManagedObject(object, at: index)
        follow()
    }

    override func removeObjects(in array: [Any]) {
        owner.removeManagedObjects(array.compactMap { $0 as? NSManagedObject }, at: index)
        follow()
    }

    override func removeAllObjects() {
        if isFollowing { return super.removeAllObjects() }
        assign([])
    }

    override func replaceObject(at position: Int, with object: Any) {
        owner.replaceManagedObject(atPosition: position, with: RelationshipSet.member(object), at: index)
        follow()
    }

    override func replaceObjects(at positions: IndexSet, with objects: [Any]) {
        owner.replaceManagedObjects(atPositions: positions, with: Self.members(objects), at: index)
        follow()
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        var objects = members
        objects.swapAt(first, second)
        assign(objects)
    }

    override func moveObjects(at positions: IndexSet, to position: Int) {
        owner.moveManagedObjects(atPositions: positions, toPosition: position, at: index)
        follow()
    }

    override func sortRange(_ range: NSRange, options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) {
        var objects = members
        let bounds = range.location..<range.location + range.length
        objects.replaceSubrange(bounds, with: objects[bounds].sorted { comparator($0, $1) == .orderedAscending })
        assign(objects)
    }

    override func sort(options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) {
        sortRange(NSRange(location: 0, length: count), options: options, usingComparator: comparator)
    }

    override func sort(comparator: (Any, Any) -> ComparisonResult) {
        sort(options: [], usingComparator: comparator)
    }

    override func sort(using sortDescriptors: [NSSortDescriptor]) {
        sort { a, b in sortDescriptors.lazy.map { $0.compare(a, to: b) }.first { $0 != .orderedSame } ?? .orderedSame }
    }

    override func intersect(_ other: NSOrderedSet) { assign(members.filter { other.contains($0) }) }
    override func minus(_ other: NSOrderedSet) { assign(members.filter { !other.contains($0) }) }
    override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
    override func intersectSet(_ other: Set<AnyHashable>) { assign(members.filter { other.contains($0) }) }
    override func minusSet(_ other: Set<AnyHashable>) { assign(members.filter { !other.contains($0) }) }
    override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: Array(other)) }
}

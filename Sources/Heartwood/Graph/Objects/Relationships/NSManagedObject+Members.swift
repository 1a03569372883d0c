import Foundation

/// Members of to-many relationships by property index. Generated accessors call these functions, and so do the sets that stand for relationships.
extension NSManagedObject {
    // MARK: Looking without reading

    /// The number of a to-many relationship's members.
    /// - Complexity: one scan of the relationship's index entries. Makes no object, and leaves the relationship unread.
    @_spi(GeneratedCode) public final func countOfManagedObjects(at index: Int) -> Int {
        checkQueue("a relationship", index)
        guard let state = touchedToManyState(index) else { return storedMemberCount(at: index) }
        if let count = state.count { return count }
        guard let context = managedObjectContext else { return state.added.count }
        var count = storedMemberCount(at: index) + state.added.count
        for key in state.added where context.stores(key, in: self, property: index) { count -= 1 }
        for key in state.removed where context.stores(key, in: self, property: index) { count -= 1 }
        return count
    }

    private final func storedMemberCount(at index: Int) -> Int {
        managedObjectContext?.storedMemberCount(of: self, property: index) ?? 0
    }

    /// Whether an object is a member of a to-many relationship.
    /// - Complexity: O(1). If the relationship was not read, it asks the other side, or looks up the pair.
    @_spi(GeneratedCode) public final func containsManagedObject(_ object: NSManagedObject, at index: Int) -> Bool {
        checkQueue("a relationship", index)
        if let known = touchedToManyState(index)?.contains(object.key) { return known }
        let property = runtime.properties[index]
        guard let context = managedObjectContext, object.managedObjectContext === context, !object.state.contains(.detached),
            property.destination.map(object.entity.isKindOf(entity:)) ?? false
        else { return false }
        if let inverse = property.inverse, !property.inverseIsToMany { return object.reference(at: inverse) == key }
        return context.stores(object.key, in: self, property: index)
    }

    /// The first member of an ordered relationship, or any member of another one; nil if it is empty.
    /// - Complexity: O(1) and the members that this context has removed; the relationship stays unread.
    @_spi(GeneratedCode) public final func firstManagedObject(at index: Int) -> NSManagedObject? {
        checkQueue("a relationship", index)
        guard let context = managedObjectContext else { return nil }
        let state = touchedToManyState(index)
        if let members = state?.members { return members.first.flatMap { context.object(for: $0, of: self) } }
        let removed = state?.removed ?? []
        let first = context.firstStoredMember(of: self, property: index) { !removed.contains($0) } ?? state?.added.first
        return first.flatMap { context.object(for: $0, of: self) }
    }

    // MARK: Several at once

    /// Adds each object as `addManagedObject(_:at:)` does.
    @_spi(GeneratedCode) public final func addManagedObjects(_ objects: [NSManagedObject], at index: Int) {
        for object in objects { addManagedObject(object, at: index) }
    }

    /// Removes each object as `removeManagedObject(_:at:)` does.
    @_spi(GeneratedCode) public final func removeManagedObjects(_ objects: [NSManagedObject], at index: Int) {
        for object in objects { removeManagedObject(object, at: index) }
    }

    // MARK: Positions in an order

    /// The member at a position of an ordered relationship. Reads the relationship's keys, and no member's row.
    /// - Precondition: the position exists.
    @_spi(GeneratedCode) public final func managedObject(atPosition position: Int, at index: Int) -> NSManagedObject {
        let keys = memberKeys(at: index)
        demandPosition(position, within: keys.count, at: index)
        guard let object = managedObjectContext?.object(for: keys[position], of: self) else {
            let name = "\(entity.name ?? "?").\(runtime.properties[index].name)"
            misuse("\(name) was asked for a member after its context had gone. Keep the context as long as its objects.")
        }
        noteFollowed()
        return object
    }

    /// Inserts a member into an ordered relationship at a position, and sets the other side. A member that it already has stays where it is.
    /// - Precondition: the position is at most the number of members.
    /// - Complexity: O(members); no member's row is read.
    @_spi(GeneratedCode) public final func insertManagedObject(_ object: NSManagedObject, atPosition position: Int, at index: Int) {
        let count = memberKeys(at: index).count
        demandPosition(position, within: count + 1, at: index)
        guard !containsManagedObject(object, at: index), let object = fitting(object, for: runtime.properties[index]) else { return }
        addManagedObject(object, at: index)
        if position < count { move(object.key, to: position, at: index) }
    }

    /// Inserts members at the positions that they have afterwards, in ascending order.
    /// - Precondition: there are as many positions as objects, none after the end.
    @_spi(GeneratedCode) public final func insertManagedObjects(_ objects: [NSManagedObject], atPositions positions: IndexSet, at index: Int) {
        demand(objects.count == positions.count, "There are \(objects.count) objects for \(positions.count) positions.")
        for (object, position) in zip(objects, positions) { insertManagedObject(object, atPosition: position, at: index) }
    }

    /// Removes the members at these positions from an ordered relationship, and clears the other sides.
    /// - Precondition: the positions exist.
    @_spi(GeneratedCode) public final func removeManagedObjects(atPositions positions: IndexSet, at index: Int) {
        for object in positions.map({ managedObject(atPosition: $0, at: index) }) { removeManagedObject(object, at: index) }
    }

    /// Replaces a member of an ordered relationship with an object. If the object is a member already it moves there.
    /// - Precondition: the position exists.
    @_spi(GeneratedCode) public final func replaceManagedObject(atPosition position: Int, with object: NSManagedObject, at index: Int) {
        let old = managedObject(atPosition: position, at: index)
        guard old !== object else { return }
        let isBefore = memberKeys(at: index).firstIndex(of: object.key).map { $0 < position } ?? false
        removeManagedObject(old, at: index)
        guard let object = fitting(object, for: runtime.properties[index]) else { return }
        addManagedObject(object, at: index)
        move(object.key, to: isBefore ? position - 1 : position, at: index)
    }

    /// Replaces members with objects, in ascending order of the positions.
    /// - Precondition: there are as many positions as objects, and all of them exist.
    @_spi(GeneratedCode) public final func replaceManagedObjects(atPositions positions: IndexSet, with objects: [NSManagedObject], at index: Int) {
        demand(objects.count == positions.count, "There are \(objects.count) objects for \(positions.count) positions.")
        var members = managedObjects(at: index)
        for (object, position) in zip(objects, positions) {
            demandPosition(position, within: members.count, at: index)
            members[position] = object
        }
        setManagedObjects(members, at: index)
    }

    /// Moves members of an ordered relationship, in their order, so that the first of them comes to `position`.
    /// - Precondition: the positions exist, and as many follow `position` as members move.
    @_spi(GeneratedCode) public final func moveManagedObjects(atPositions positions: IndexSet, toPosition position: Int, at index: Int) {
        let members = managedObjects(at: index)
        demandPosition(position, within: members.count - positions.count + 1, at: index)
        for position in positions { demandPosition(position, within: members.count, at: index) }
        var rest = members.indices.filter { !positions.contains($0) }.map { members[$0] }
        rest.insert(contentsOf: positions.map { members[$0] }, at: position)
        setManagedObjects(rest, at: index)
    }

    private final func move(_ key: ObjectKey, to position: Int, at index: Int) {
        toManyState(index).move(key, to: position)
        noteChange()
    }

    private final func demandPosition(_ position: Int, within count: Int, at index: Int) {
        demand(
            position >= 0 && position < count,
            "\(entity.name ?? "?").\(runtime.properties[index].name) has no position \(position); positions go from 0 to \(count - 1) here.")
    }

    // MARK: Possible members

    /// The object, if it may be a destination of `property`; nil if a merge has taken one of the two away.
    /// - Precondition: `object` may be a destination of `property` but for that.
    @inline(__always)
    final func fitting(_ object: NSManagedObject, for property: PropertyRuntime) -> NSManagedObject? {
        guard let fault = mismatch(object, for: property) else { return object }
        guard isMergedDeletion(on: object, property) else { misuse(fault) }
        return nil
    }

    /// Whether somebody else has deleted this object or its possible destination, and their context has merged that.
    ///
    /// A merge may come between any two events, so code that still holds the object is not at fault. The relationship becomes what the merge would
    /// have made of it, had it come later: it leads to no such object.
    final func isMergedDeletion(on object: NSManagedObject, _ property: PropertyRuntime) -> Bool {
        (state.contains(.gone) || object.state.contains(.gone)) && isDestination(object, of: property)
            && contextReference?.toOpaque() == object.contextReference?.toOpaque()
    }

    /// The reason why an object cannot be a destination; nil if it can.
    @inline(__always)
    final func mismatch(_ object: NSManagedObject, for property: PropertyRuntime) -> String? {
        let isOfContext = contextReference?.toOpaque() == object.contextReference?.toOpaque() && contextReference != nil
        guard isOfContext, !state.contains(.detached), !object.state.contains(.detached), isDestination(object, of: property)
        else { return describeMismatch(object, for: property) }
        return nil
    }

    @inline(__always)
    private final func isDestination(_ object: NSManagedObject, of property: PropertyRuntime) -> Bool {
        guard let destination = property.destination else { return false }
        return object.entity === destination || object.entity.isKindOf(entity: destination)
    }

    @inline(never)
    private final func describeMismatch(_ object: NSManagedObject, for property: PropertyRuntime) -> String {
        let name = "\(entity.name ?? "?").\(property.name)"
        guard let destination = property.destination else { return "\(name) is no relationship, and holds no objects." }
        if !isDestination(object, of: property) {
            return "\(name) holds objects of \(destination.name ?? "?"), not of \(object.entity.name ?? "?")."
        }
        for (side, which) in [(self, "the object that has it"), (object, "the object that was given")] {
            guard side.contextReference != nil else {
                return "\(name) cannot be set: \(which) is in no context; insert(_:) it first."
            }
            guard !side.state.contains(.detached) else {
                return "\(name) cannot be set: \(which) was deleted, or its context was reset or is gone; fetch it anew, or insert(_:) it."
            }
        }
        return "\(name) was given an object of another context; take it by its objectID with object(with:) first."
    }
}

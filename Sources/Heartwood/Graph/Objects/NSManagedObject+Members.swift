import Foundation

/// Members of to-many relationships by property index: what generated accessors and the sets that stand for relationships call.
extension NSManagedObject {
    // MARK: Looking without reading

    /// How many members a to-many relationship has.
    /// - Complexity: one walk over the relationship's entries in the index; no object is made, and the relationship stays unread.
    public final func countOfManagedObjects(at index: Int) -> Int {
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
    /// - Complexity: O(1): where the relationship was not read it asks the other side, or looks the pair up.
    public final func containsManagedObject(_ object: NSManagedObject, at index: Int) -> Bool {
        checkQueue("a relationship", index)
        if let known = touchedToManyState(index)?.contains(object.key) { return known }
        let property = runtime.properties[index]
        guard let context = managedObjectContext, object.managedObjectContext === context, !object.state.contains(.detached),
            property.destination.map(object.entity.isKindOf(entity:)) ?? false
        else { return false }
        if let inverse = property.inverse, !property.inverseIsToMany { return object.reference(at: inverse) == key }
        return context.stores(object.key, in: self, property: index)
    }

    /// The first member of an ordered relationship, any member of another one; nil where there is none.
    /// - Complexity: O(1) but for members that this context has removed; the relationship stays unread.
    public final func firstManagedObject(at index: Int) -> NSManagedObject? {
        checkQueue("a relationship", index)
        guard let context = managedObjectContext else { return nil }
        let state = touchedToManyState(index)
        if let members = state?.members { return members.first.flatMap { context.object(for: $0) } }
        let removed = state?.removed ?? []
        let first = context.firstStoredMember(of: self, property: index) { !removed.contains($0) } ?? state?.added.first
        return first.flatMap { context.object(for: $0) }
    }

    // MARK: Several at once

    /// Adds members, as `addManagedObject(_:at:)` does each.
    public final func addManagedObjects(_ objects: [NSManagedObject], at index: Int) {
        for object in objects { addManagedObject(object, at: index) }
    }

    /// Takes members out, as `removeManagedObject(_:at:)` does each.
    public final func removeManagedObjects(_ objects: [NSManagedObject], at index: Int) {
        for object in objects { removeManagedObject(object, at: index) }
    }

    // MARK: Places in an order

    /// The member at a place of an ordered relationship. Reads the relationship's keys, and no member's row.
    /// - Precondition: there is such a place.
    public final func managedObject(atPlace place: Int, at index: Int) -> NSManagedObject {
        let keys = memberKeys(at: index)
        demand(place, within: keys.count, at: index)
        guard let object = managedObjectContext?.object(for: keys[place]) else {
            let name = "\(entity.name ?? "?").\(runtime.properties[index].name)"
            preconditionFailure("\(name) was asked for a member after its context had gone. Keep the context as long as its objects.")
        }
        return object
    }

    /// Adds a member to an ordered relationship at a place, and sets the other side. One that is there already stays where it is.
    /// - Precondition: the place is at most the number of members.
    /// - Complexity: O(members); no member's row is read.
    public final func insertManagedObject(_ object: NSManagedObject, atPlace place: Int, at index: Int) {
        let count = memberKeys(at: index).count
        demand(place, within: count + 1, at: index)
        guard !containsManagedObject(object, at: index) else { return }
        addManagedObject(object, at: index)
        if place < count { move(object.key, to: place, at: index) }
    }

    /// Adds members at the places that they have afterwards, in rising order.
    /// - Precondition: there are as many places as objects, none behind the end.
    public final func insertManagedObjects(_ objects: [NSManagedObject], atPlaces places: IndexSet, at index: Int) {
        precondition(objects.count == places.count, "There are \(objects.count) objects for \(places.count) places.")
        for (object, place) in zip(objects, places) { insertManagedObject(object, atPlace: place, at: index) }
    }

    /// Takes the members at these places out of an ordered relationship, and clears the other sides.
    /// - Precondition: there are such places.
    public final func removeManagedObjects(atPlaces places: IndexSet, at index: Int) {
        for object in places.map({ managedObject(atPlace: $0, at: index) }) { removeManagedObject(object, at: index) }
    }

    /// Puts an object in the place of a member of an ordered relationship. Where it is a member already it moves there.
    /// - Precondition: there is such a place.
    public final func replaceManagedObject(atPlace place: Int, with object: NSManagedObject, at index: Int) {
        let old = managedObject(atPlace: place, at: index)
        guard old !== object else { return }
        let isBefore = memberKeys(at: index).firstIndex(of: object.key).map { $0 < place } ?? false
        removeManagedObject(old, at: index)
        addManagedObject(object, at: index)
        move(object.key, to: isBefore ? place - 1 : place, at: index)
    }

    /// Puts objects in the places of members, in rising order.
    /// - Precondition: there are as many places as objects, and all of them are there.
    public final func replaceManagedObjects(atPlaces places: IndexSet, with objects: [NSManagedObject], at index: Int) {
        precondition(objects.count == places.count, "There are \(objects.count) objects for \(places.count) places.")
        var members = managedObjects(at: index)
        for (object, position) in zip(objects, places) {
            demand(position, within: members.count, at: index)
            members[position] = object
        }
        setManagedObjects(members, at: index)
    }

    /// Moves members of an ordered relationship, in the order they have, so that the first of them stands at `place`.
    /// - Precondition: there are such places, and as many behind `place` as members move.
    public final func moveManagedObjects(atPlaces places: IndexSet, toPlace place: Int, at index: Int) {
        let members = managedObjects(at: index)
        demand(place, within: members.count - places.count + 1, at: index)
        for place in places { demand(place, within: members.count, at: index) }
        var rest = members.indices.filter { !places.contains($0) }.map { members[$0] }
        rest.insert(contentsOf: places.map { members[$0] }, at: place)
        setManagedObjects(rest, at: index)
    }

    private final func move(_ key: ObjectKey, to place: Int, at index: Int) {
        toManyState(index).move(key, to: place)
        noteChange()
    }

    private final func demand(_ position: Int, within count: Int, at index: Int) {
        precondition(
            position >= 0 && position < count,
            "\(entity.name ?? "?").\(runtime.properties[index].name) has no place \(position); places go from 0 to \(count - 1) here.")
    }

    // MARK: What may be a member

    /// - Precondition: `object` may be a destination of `property`.
    final func demandFit(_ object: NSManagedObject, for property: PropertyRuntime) {
        guard let fault = misfit(object, for: property) else { return }
        preconditionFailure(fault)
    }

    /// Why an object cannot be a destination; nil where it can.
    @inline(__always)
    final func misfit(_ object: NSManagedObject, for property: PropertyRuntime) -> String? {
        let isOfContext = contextReference?.toOpaque() == object.contextReference?.toOpaque() && contextReference != nil
        guard isOfContext, !state.contains(.detached), !object.state.contains(.detached), isDestination(object, of: property)
        else { return describeMisfit(object, for: property) }
        return nil
    }

    @inline(__always)
    private final func isDestination(_ object: NSManagedObject, of property: PropertyRuntime) -> Bool {
        guard let destination = property.destination else { return false }
        return object.entity === destination || object.entity.isKindOf(entity: destination)
    }

    @inline(never)
    private final func describeMisfit(_ object: NSManagedObject, for property: PropertyRuntime) -> String {
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

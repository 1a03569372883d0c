import Foundation

/// The properties of other objects that a controller's results depend on: those that its predicate, its order and its section key path reach
/// through relationships.
///
/// A relationship is a property of the object that has it, so its change shows there. Of the other objects only the properties that are read
/// matter.
struct ResultDependencies {
    /// By entity: the names of the properties read; nil if some of them are not stored, so that any change may matter.
    private var properties: [ObjectIdentifier: Set<String>?] = [:]
    /// Whether results depend on other results.
    private(set) var isOwn = false
    /// The objects with unsaved changes that matter.
    private var changed: Set<ObjectKey> = []

    var isEmpty: Bool { properties.isEmpty }

    /// - Parameter fetch: its sort keys include the section key path, if that is stored.
    init(_ fetch: FetchSpecification, _ section: ResultsQuery.Section?) {
        if let predicate = fetch.predicate {
            var paths: [([NSEntityDescription], [String])] = []
            try? PredicatePaths.traverse(predicate, entity: fetch.entity) { path in
                if path.keys.count > 1 || !path.isDirect { paths.append((path.owners, path.keys)) }
            }
            for (owners, keys) in paths { follow(keys, of: owners, isRoot: owners.count == 1 && owners[0] === fetch.entity) }
        }
        for key in fetch.sort where key.path.count > 1 { follow(key.path, of: [fetch.entity], isRoot: true) }
        if let section, !section.isStored, section.path.count > 1 { follow(section.path, of: [fetch.entity], isRoot: true) }
        isOwn = fetch.concreteEntities.contains { properties[ObjectIdentifier($0)] != nil }
    }

    private mutating func follow(_ path: [String], of owners: [NSEntityDescription], isRoot: Bool) {
        var owners = owners
        for (index, key) in path.enumerated() where !key.hasPrefix("@") && key.lowercased() != "self" {
            if index > 0 || !isRoot { note(key, of: owners) }
            owners = owners.destinations(of: key)
            for entity in owners.flatMap(\.concreteFamily) where properties[ObjectIdentifier(entity)] == nil {
                properties[ObjectIdentifier(entity)] = .some([])
            }
        }
    }

    private mutating func note(_ key: String, of owners: [NSEntityDescription]) {
        for entity in owners.flatMap(\.concreteFamily) {
            let id = ObjectIdentifier(entity)
            guard let property = entity.propertiesByName[key], !property.isTransient else {
                if !entity.isKnownInFamily(key) { properties[id] = .some(nil) }
                continue
            }
            if case .some(.some(let known)) = properties[id] {
                properties[id] = .some(known.union([key]))
            } else if properties[id] == nil {
                properties[id] = .some([key])
            }
        }
    }

    /// Whether changes of objects outside the results may change the results.
    mutating func areTouched(by events: ChangeEvents) -> Bool {
        guard !isEmpty else { return false }
        var isTouched = events.unregistered.isPartial
        for object in events.updated where matters(changeOf: object) { isTouched = true }
        for object in events.deleted where properties[ObjectIdentifier(object.entity)] != nil {
            changed.remove(object.key)
            isTouched = true
        }
        for object in events.refreshed where properties[ObjectIdentifier(object.entity)] != nil {
            changed.remove(object.key)
            isTouched = true
        }
        return isTouched || events.unregistered.entities.contains { properties[$0] != nil }
    }

    /// Whether an updated object's change matters. It matters too if the object has undone since the last call a change that mattered.
    private mutating func matters(changeOf object: NSManagedObject) -> Bool {
        guard let names = properties[ObjectIdentifier(object.entity)] else { return false }
        guard let names else { return true }
        guard object.hasChanges else {
            // The object was saved since, by a delegate that was notified earlier: its changes are unknown.
            changed.remove(object.key)
            return true
        }
        let isChanged = object.changedIndices().contains { names.contains(object.runtime.properties[$0].name) }
        let wasChanged = isChanged ? !changed.insert(object.key).inserted : changed.remove(object.key) != nil
        return isChanged || wasChanged
    }

    /// Starts with the unsaved changes.
    mutating func inspect(at changes: [NSManagedObject]) {
        changed = []
        guard !isEmpty else { return }
        for object in changes where object.isUpdated { _ = matters(changeOf: object) }
    }
}

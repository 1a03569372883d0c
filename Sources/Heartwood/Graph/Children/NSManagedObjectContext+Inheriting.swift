import Foundation
import RecordLog

/// Reading from the parent, and the parent's answers. A function that throws here has changed nothing in the parent: a failed read is
/// remembered by the child, which then refuses to save, and not by the parent.
extension NSManagedObjectContext {
    // MARK: One object

    /// Reads the row or the committed state of an object without firing its fault.
    /// - Returns: false if the object no longer exists.
    final func fulfil(_ object: NSManagedObject) throws -> Bool {
        if object.rowBody != nil || object.isInserted || object.storage?.base != nil { return true }
        guard !object.state.contains(.inaccessible) else { return false }
        guard parentContext == nil else { return object.take(try askParent(about: object.key)) }
        guard let row = try committedRow(of: object) else { return false }
        object.bind(row)
        return true
    }

    private func askParent(about key: ObjectKey) throws -> ParentAnswer {
        let seen = lineage.keysSeen
        let (answer, rows) = try askParent { parent in
            (try parent.answer(for: key, seen: seen), parent.readState.memory)
        }
        readState.memory.add(rows)
        return answer
    }

    /// Whether the object no longer exists in the parent.
    final func isGoneFromParent(_ object: NSManagedObject) -> Bool {
        guard case .gone? = try? askParent(about: object.key) else { return false }
        return true
    }

    /// - Parameter seen: the number of renames that the child has adopted.
    private func answer(for key: ObjectKey, seen: Int) throws -> ParentAnswer {
        guard let object = served(key) else { return .gone }
        // No code has seen the object's values in this context, so the child may read newer ones.
        if object.isFault, object.storage?.values.isEmpty ?? true { object.forgetRow() }
        guard try fulfil(object) else { return .gone }
        object.state.insert(.shown)
        return tree.oldNames(after: seen).map(object.answer) ?? object.answer
    }

    /// Returns the object that a child asks for; nil if it is deleted.
    final func served(_ key: ObjectKey) -> NSManagedObject? {
        guard let object = object(for: currentKey(key)), !object.isDeleted else { return nil }
        return object
    }

    // MARK: Members

    /// Returns the members of a to-many relationship as the store, or the parent of a child context, lists them.
    final func committedMembers(of object: NSManagedObject, property: Int) throws -> [ObjectKey] {
        guard parentContext == nil else {
            let key = object.key, seen = lineage.keysSeen
            return try askParent { parent in
                let members = try parent.members(of: key, property: property)
                guard let names = parent.tree.oldNames(after: seen) else { return members }
                return members.map { names[$0] ?? $0 }
            }
        }
        guard !object.key.isTemporary else { return [] }
        return try view(of: object.runtime).members(of: object.key, runtime: object.runtime, property: property)
    }

    /// Returns the first committed member for which `isIncluded` is true. A child context reads all members from its parent.
    final func firstCommittedMember(
        of object: NSManagedObject, property: Int, where isIncluded: (ObjectKey) -> Bool
    ) throws -> ObjectKey? {
        guard parentContext == nil else { return try committedMembers(of: object, property: property).first(where: isIncluded) }
        guard !object.key.isTemporary else { return nil }
        return try view(of: object.runtime)
            .firstMember(of: object.key, runtime: object.runtime, property: property, where: isIncluded)
    }

    /// Whether `member` is a committed member of the relationship.
    final func commits(_ member: ObjectKey, in object: NSManagedObject, property: Int) throws -> Bool {
        guard parentContext == nil else {
            let key = object.key
            return askParent { parent in
                guard let owner = parent.served(key), let member = parent.served(member) else { return false }
                return owner.containsManagedObject(member, at: property)
            }
        }
        guard !object.key.isTemporary, !member.isTemporary else { return false }
        return try view(of: object.runtime).hasMember(member, of: object.key, runtime: object.runtime, property: property)
    }

    final func committedMemberCount(of object: NSManagedObject, property: Int) throws -> Int {
        guard parentContext == nil else {
            let key = object.key
            return try askParent { try $0.memberCount(of: key, property: property) }
        }
        guard !object.key.isTemporary else { return 0 }
        return try view(of: object.runtime).memberCount(of: object.key, runtime: object.runtime, property: property)
    }

    private func members(of key: ObjectKey, property: Int) throws -> [ObjectKey] {
        guard let object = served(key) else { return [] }
        object.state.insert(.shown)
        guard let state = object.touchedToManyState(property) else {
            return object.isInserted ? [] : try committedMembers(of: object, property: property)
        }
        if !state.isFired { state.fire(object.isInserted ? [] : try committedMembers(of: object, property: property)) }
        return state.members ?? []
    }

    private func memberCount(of key: ObjectKey, property: Int) throws -> Int {
        guard let object = served(key) else { return 0 }
        guard object.touchedToManyState(property) == nil else { return try members(of: key, property: property).count }
        return object.isInserted ? 0 : try committedMemberCount(of: object, property: property)
    }

    // MARK: Fetches

    /// The result of a fetch that a parent has executed for a child.
    private struct Found {
        let keys: [ObjectKey]
        /// nil for an object that the child has to ask for.
        let rows: [UnsafeRowView?]
        let memory: RowMemory
        let names: [ObjectKey: ObjectKey]?
        let statistics: QueryStatistics
    }

    /// Fetches from the parent, including its unsaved changes, and returns this context's objects: faults, unless they were registered.
    final func fetchFromParent(_ fetch: FetchSpecification) throws -> [NSManagedObject] {
        let request = fetch.forParent, seen = lineage.keysSeen
        let found = try askParent { parent in
            let objects = try parent.fetchObjects(request), names = parent.tree.oldNames(after: seen)
            // Rows do not hold old names.
            let rows = objects.map { names == nil && (try? parent.fulfil($0)) == true ? $0.sharedRow : nil }
            for object in objects { object.state.insert(.shown) }
            return Found(keys: objects.map(\.key), rows: rows, memory: parent.readState.memory, names: names, statistics: parent.lastQuery)
        }
        readState.memory.add(found.memory)
        lastQuery = found.statistics
        return zip(found.keys, found.rows).compactMap { key, row in
            guard let object = object(for: found.names?[key] ?? key) else { return nil }
            if object.isFault, object.storage?.values.isEmpty ?? true {
                object.forgetRow()
                object.state.remove(.inaccessible)
                if let row { object.bind(row) }
            }
            return object
        }
    }

    /// Returns the number of objects that the parent finds. Makes no object, unless a context up to the root has changes that matter.
    final func countInParent(_ fetch: FetchSpecification) throws -> Int {
        let request = fetch.forParent
        return try askParent { try $0.count(request) }
    }
}

extension FetchSpecification {
    /// The fetch that a child asks of its parent. It includes the parent's unsaved changes, which the child treats as saved.
    fileprivate var forParent: FetchSpecification {
        var result = self
        result.includesPendingChanges = true
        result.returnsObjectsAsFaults = true
        return result
    }
}

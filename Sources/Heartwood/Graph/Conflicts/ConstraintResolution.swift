import Foundation

/// Resolves one breach of a uniqueness constraint, so that the save can be repeated.
///
/// An inserted object with the unique values of another object is treated as that object: the two become one, with the ID of the one that
/// has a row. If the context wins, the inserted object's attributes and to-one relationships replace the row's, including unset ones, as on
/// Apple's platforms; if the store wins, the row keeps its values. In both cases the members of to-many relationships are united, and
/// objects that pointed at the inserted object point at the other. If both objects have rows, one of them is deleted when the context wins;
/// when the store wins, the change that broke the constraint is undone.
struct ConstraintResolution {
    private let conflict: NSConstraintConflict
    private let type: NSMergePolicyType

    init(_ conflict: NSConstraintConflict, _ type: NSMergePolicyType) {
        self.conflict = conflict
        self.type = type
    }

    private var isStoreFirst: Bool {
        type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
    }

    func run() {
        // An earlier conflict of the list may have resolved some of them.
        var losers = conflict.conflictingObjects.filter { $0.managedObjectContext != nil && !$0.isDeleted }
        var winner = conflict.databaseObject
        if winner == nil {
            let saved = isStoreFirst ? losers.firstIndex { !$0.isInserted } : losers.lastIndex { !$0.isInserted }
            guard !losers.isEmpty else { return }
            winner = losers.remove(at: saved ?? (isStoreFirst ? 0 : losers.count - 1))
        }
        guard let winner, let context = winner.managedObjectContext else { return }
        // The values that it takes over are set on top of its newest row.
        if winner === conflict.databaseObject { context.performRefresh(of: winner, mergeChanges: true) }
        // If neither object has a row, the one inserted last has the newest values.
        let takesValues = !isStoreFirst && !winner.isInserted
        for loser in losers {
            if loser.isInserted {
                winner.absorb(loser, takesValues: takesValues, context)
            } else if isStoreFirst {
                takeBack(loser, context)
            } else if conflict.databaseObject != nil {
                context.performDeletion(of: winner)
                return
            } else {
                context.performDeletion(of: loser)
            }
        }
        if isStoreFirst, conflict.databaseObject == nil, !winner.isInserted, losers.contains(where: { !$0.isInserted }) {
            takeBack(winner, context)
        }
    }

    /// Restores the constraint's properties to the store's values; under the rollback policy drops every change of the object.
    private func takeBack(_ object: NSManagedObject, _ context: NSManagedObjectContext) {
        context.noteEvent(.refreshed, object)
        guard type != .rollbackMergePolicyType else {
            context.forgetChanges(of: object)
            object.becomeFault()
            return
        }
        // The other sides of the relationships are restored as well.
        for name in conflict.constraint where object.runtime.properties[object.propertyIndex(name)].kind == .toOne {
            let saved = object.savedValues(forKeys: [name])[name]
            let destination = saved as? NSManagedObject ?? (saved as? NSManagedObjectID).map { context.object(with: $0) }
            object.setManagedObject(destination?.isDeleted == true ? nil : destination, at: object.propertyIndex(name))
        }
        let storage = object.changeStorage()
        for name in conflict.constraint { storage.values[object.propertyIndex(name)] = .unset }
    }
}

extension NSManagedObject {
    /// Takes over the values of an inserted object and removes it from the context.
    fileprivate final func absorb(_ other: NSManagedObject, takesValues: Bool, _ context: NSManagedObjectContext) {
        for (source, property) in other.runtime.properties.enumerated() {
            // The two objects may be of different entities of one family.
            guard let index = runtime.index(of: property.name), runtime.properties[index].kind == property.kind else { continue }
            switch property.kind {
            case .toOne:
                let destination = other.managedObject(at: source)
                other.setManagedObject(nil, at: source)
                if takesValues { setManagedObject(destination === other ? self : destination, at: index) }
            case .toMany:
                for member in other.managedObjects(at: source) {
                    other.removeManagedObject(member, at: source)
                    addManagedObject(member === other ? self : member, at: index)
                }
            default:
                if takesValues { setManagedValue(other.managedValue(source), at: index) }
            }
        }
        context.replaceReferences(to: other.key, with: key)
        context.tree.renameForChildren(other.key, to: key, isMerge: true)
        context.forget(inserted: other)
    }
}

extension NSManagedObjectContext {
    /// Removes an inserted object from the context. Its values stay readable.
    fileprivate final func forget(inserted object: NSManagedObject) {
        pending.changeCount -= 1
        identities.remove(object.key)
        object.state.remove([.inserted, .updated])
        object.state.insert([.deleted, .detached, .inaccessible])
        noteEvent(.deleted, object)
    }
}

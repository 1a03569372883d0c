import Foundation

/// Checks uniqueness constraints before a save to an incremental store: within the save, and with a fetch for each new combination of values. Null
/// equals nothing.
struct IncrementalUniqueness {
    private let store: NSIncrementalStore
    private let view: IncrementalView
    private let batch: SaveBatch
    private let context: NSManagedObjectContext

    private struct Claim: Hashable {
        let attributes: [String]
        let owner: ObjectIdentifier
        /// Compared byte by byte, as stores compare text.
        let values: [[UInt8]]
    }

    init(_ store: NSIncrementalStore, _ view: IncrementalView, _ batch: SaveBatch, _ context: NSManagedObjectContext) {
        self.store = store
        self.view = view
        self.batch = batch
        self.context = context
    }

    /// - Throws: `ConstraintViolations` with all violations found.
    func check() throws {
        var order: [Claim] = []
        var claims: [Claim: (objects: [NSManagedObject], entity: NSEntityDescription)] = [:]
        // Objects whose stored values do not count any more.
        var released = Set(batch.deleted.map(\.key))
        for object in batch.inserted + batch.updated {
            for attributes in object.entity.allUniquenessConstraints where isClaimed(attributes, by: object) {
                if !object.isInserted { released.insert(object.key) }
                guard let values = values(attributes, of: object) else { continue }
                let owner = object.entity.owner(ofConstraint: attributes)
                let claim = Claim(attributes: attributes, owner: ObjectIdentifier(owner), values: values)
                if claims[claim] == nil { order.append(claim) }
                claims[claim, default: ([], owner)].objects.append(object)
            }
        }
        var violations: [ConstraintViolations.Violation] = []
        for claim in order {
            guard let (objects, entity) = claims[claim] else { continue }
            let holder = try holder(of: claim.attributes, objects[0], entity, but: released)
            if holder != nil || objects.count > 1 {
                violations.append(.init(attributes: claim.attributes, holder: holder, objects: objects))
            }
        }
        guard violations.isEmpty else { throw ConstraintViolations(list: violations) }
    }

    /// Whether a save may give the object other values of a constraint.
    private func isClaimed(_ attributes: [String], by object: NSManagedObject) -> Bool {
        guard let values = object.storage?.values, !values.isEmpty else { return false }
        return attributes.contains { name in object.runtime.index(of: name).map { !values[$0].isUnset } ?? false }
    }

    /// The values' texts; nil if one is null.
    private func values(_ attributes: [String], of object: NSManagedObject) -> [[UInt8]]? {
        var result: [[UInt8]] = []
        for name in attributes {
            guard let index = object.runtime.index(of: name) else { return nil }
            if object.runtime.properties[index].kind == .toOne {
                guard let destination = object.managedObject(at: index) else { return nil }
                result.append(withUnsafeBytes(of: destination.key.rawValue) { Array($0) })
                continue
            }
            guard let value = object.managedAttribute(at: index) else { return nil }
            // `description` would omit fractions of seconds and the bytes of data.
            result.append(Array((DefaultValueText.text(value) ?? "").utf8))
        }
        return result
    }

    /// The stored object that has an object's values and keeps them.
    private func holder(
        of attributes: [String], _ object: NSManagedObject, _ entity: NSEntityDescription, but released: Set<ObjectKey>
    ) throws -> ObjectKey? {
        var parts: [NSPredicate] = []
        for name in attributes {
            guard let index = object.runtime.index(of: name) else { continue }
            let value: Any?
            if object.runtime.properties[index].kind == .toOne {
                // No stored object refers to an unsaved one.
                guard let destination = object.managedObject(at: index), !destination.isInserted else { return nil }
                value = destination.objectID
            } else {
                value = object.managedAttribute(at: index)
            }
            guard let value else { continue }
            parts.append(NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: name), rightExpression: NSExpression(forConstantValue: value), modifier: .direct,
                type: .equalTo))
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        request.affectedStores = [store]
        return try context.newReader().fetch(request).map(\.key).first { !released.contains($0) }
    }
}

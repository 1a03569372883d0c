import Foundation
import Heartwood

/// The unique values that a context's changed objects claim, compared with each other and with the store. A save does so by itself; a dry run saves
/// nothing.
///
/// One look-up for each changed object and constraint.
struct UniqueValues {
    private struct Constraint: Hashable {
        /// The entity that declares it: it holds for all entities below.
        let entity: NSEntityDescription
        let names: [String]
    }

    private struct Claim: Hashable {
        let constraint: Constraint
        let values: [NSObject]
    }

    private let context: NSManagedObjectContext
    private var claims: [Claim: [NSManagedObject]] = [:]
    /// The claims in the order of the objects.
    private var order: [(claim: Claim, object: NSManagedObject)] = []
    private var changed: [Constraint: Set<NSManagedObjectID>] = [:]

    init(_ objects: [NSManagedObject], in context: NSManagedObjectContext) {
        self.context = context
        for object in objects where !object.isDeleted {
            let changes = object.changedValues()
            for constraint in Self.constraints(of: object.entity) where constraint.names.contains(where: { changes[$0] != nil }) {
                changed[constraint, default: []].insert(object.objectID)
                // nil equals nothing.
                let values = constraint.names.compactMap { object.value(forKey: $0) as? NSObject }
                guard values.count == constraint.names.count else { continue }
                let claim = Claim(constraint: constraint, values: values)
                claims[claim, default: []].append(object)
                order.append((claim, object))
            }
        }
    }

    /// Those of an entity and of the entities above, each once.
    private static func constraints(of entity: NSEntityDescription) -> [Constraint] {
        var known: Set<[String]> = []
        return sequence(first: entity, next: \.superentity).reversed().flatMap { entity in
            entity.constraintNames.filter { known.insert($0).inserted }.map { Constraint(entity: entity, names: $0) }
        }
    }

    /// The objects whose unique values another object would have too.
    func refusals() throws -> [Refusal] {
        try order.compactMap { claim, object in
            guard let other = try claims[claim]?.first(where: { $0 !== object }) ?? holder(of: claim) else { return nil }
            let names = claim.constraint.names.joined(separator: ", "), values = claim.values.map { "\($0)" }.joined(separator: ", ")
            return Refusal(object: object.objectID.text, reason: "Another \(object.entity.title) has the same \(names): \(values). It is \(other.objectID.text).")
        }
    }

    /// The stored object that has the values, and keeps them.
    private func holder(of claim: Claim) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: claim.constraint.entity.title)
        request.includesPendingChanges = false
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: zip(claim.constraint.names, claim.values).map { NSComparisonPredicate.equality($0, $1) })
        return try context.fetch(request).first { !$0.isDeleted && changed[claim.constraint]?.contains($0.objectID) != true }
    }
}

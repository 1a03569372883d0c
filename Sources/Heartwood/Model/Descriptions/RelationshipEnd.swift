/// A destination or an inverse: a relationship leads to it and does not hold it.
protocol RelationshipTarget: AnyObject {
    /// The relationships that lead here. When the target is freed, it makes them forget it.
    var incoming: IncomingRelationships { get set }
}

extension NSEntityDescription: RelationshipTarget {}
extension NSRelationshipDescription: RelationshipTarget {}

/// A relationship's reference to a target that it does not hold. See `NSPropertyDescription.owner`.
struct RelationshipEnd<Target: RelationshipTarget> {
    private var reference: Unmanaged<Target>?

    var target: Target? { reference?.takeUnretainedValue() }

    /// Leads `relationship` to another target, or nowhere.
    mutating func set(_ target: Target?, from relationship: NSRelationshipDescription) {
        self.target?.incoming.remove(relationship)
        reference = target.map { Unmanaged.passUnretained($0) }
        target?.incoming.insert(relationship)
    }

    /// For the target when it is freed.
    mutating func forget() { reference = nil }
}

/// Relationships that lead to one target. Each takes itself out when it is freed, so none is held.
struct IncomingRelationships {
    private var relationships: [ObjectIdentifier: Unmanaged<NSRelationshipDescription>] = [:]

    mutating func insert(_ relationship: NSRelationshipDescription) {
        relationships[ObjectIdentifier(relationship)] = .passUnretained(relationship)
    }

    mutating func remove(_ relationship: NSRelationshipDescription) { relationships[ObjectIdentifier(relationship)] = nil }

    func forEach(_ body: (NSRelationshipDescription) -> Void) {
        for relationship in relationships.values { body(relationship.takeUnretainedValue()) }
    }
}

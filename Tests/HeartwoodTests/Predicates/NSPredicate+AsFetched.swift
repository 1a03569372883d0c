@testable import Heartwood

extension NSPredicate {
    /// The predicate in a fetch's form for evaluation in memory: a value compared with an attribute has the attribute's type
    /// (`ColumnAffinityTests`).
    func asFetched(_ entity: String, in stack: TestStack) -> NSPredicate {
        guard let entity = stack.coordinator.managedObjectModel.entitiesByName[entity] else { return self }
        return NSPredicate(node: node.joiningComposites(of: entity).folded.matchingColumns(of: entity))
    }
}

@testable import Heartwood

extension NSPredicate {
    /// The predicate as a fetch has it, to be evaluated in memory: what an attribute is compared with has the attribute's type (`ColumnAffinityTests`).
    func asFetched(_ entity: String, in stack: TestStack) -> NSPredicate {
        guard let entity = stack.coordinator.managedObjectModel.entitiesByName[entity] else { return self }
        return NSPredicate(node: node.joiningComposites(of: entity).folded.matchingColumns(of: entity))
    }
}

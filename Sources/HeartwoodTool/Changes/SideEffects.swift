import Heartwood

/// The objects that change beside those that a person wanted to change: by delete rules and by inverse relationships.
struct SideEffects {
    private let deleted: [String: Int]
    private let updated: [String: Int]

    init(of wanted: [NSManagedObject], in context: NSManagedObjectContext) {
        let known = Set(wanted.map(ObjectIdentifier.init))
        func counts(_ objects: Set<NSManagedObject>) -> [String: Int] {
            objects.reduce(into: [:]) { if !known.contains(ObjectIdentifier($1)) { $0[$1.entity.title, default: 0] += 1 } }
        }
        (deleted, updated) = (counts(context.deletedObjects), counts(context.updatedObjects.filter(\.hasPersistentChangedValues)))
    }

    var lines: [String] {
        let all = [("deleted with them, by delete rules", deleted), ("with a changed relationship to them", updated)]
        return all.filter { !$0.1.isEmpty }.map { label, counts in
            label + ": " + counts.sorted { $0.key < $1.key }.map { "\(Output.number($0.value)) \($0.key)" }.joined(separator: ", ")
        }
    }
}

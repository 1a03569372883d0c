import Heartwood

extension OpenStore {
    /// The predicate that a person means by a written one; see `TypedPredicate`.
    /// - Parameter columns: those of groups, which `$NAME` names.
    /// - Throws: `ToolError.usage` for a constant that is no value of the type that it is compared with.
    func meant(_ written: NSPredicate?, about entity: NSEntityDescription, columns: [QueryColumn] = []) throws -> NSPredicate? {
        guard let written else { return nil }
        let expressions = columns.compactMap { column in column.expression.map { (column.name, $0.node) } }
        let types = ComparedTypes(owners: [entity], columns: Dictionary(expressions) { first, _ in first })
        return NSPredicate(node: try TypedPredicate(types: types, objectID: objectID).read(written.node))
    }
}

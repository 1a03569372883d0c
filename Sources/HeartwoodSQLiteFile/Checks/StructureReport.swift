/// The pages of a database by their use, as a walk over all of them finds them.
package struct StructureReport: Sendable {
    /// A table's tree, or an index's.
    package struct Tree: Sendable {
        package let name: String
        /// Of an index the table that it belongs to; of a table itself.
        package let tableName: String
        package let isIndex: Bool
        package let pages: Int
        package let overflowPages: Int
        package let entries: Int
        /// Whether the walk found no fault in it.
        package let isSound: Bool
    }

    /// The schema table first, then in the order of the schema.
    package internal(set) var trees: [Tree] = []
    package internal(set) var freePages = 0
    package internal(set) var pointerMapPages = 0
    /// The pages that nothing uses.
    package internal(set) var unusedPages = 0

    /// Of a database that was not walked yet.
    package init() {}

    package static let schemaTable = "sqlite_schema"
}

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

/// A fault in the structure of a database.
package struct StructureFinding: Sendable, Equatable {
    /// The table or the index; nil for a fault of the file's own pages.
    package let owner: String?
    /// The number of the page, from 1; nil if the fault is not about one page.
    package let page: UInt32?
    /// In bytes, from the page's start.
    package let offset: Int?
    package let message: String

    init(_ owner: String?, page: UInt32? = nil, offset: Int? = nil, _ message: String) {
        (self.owner, self.page, self.offset, self.message) = (owner, page, offset, message)
    }

    init(_ owner: String?, _ error: SQLiteFileError) {
        self.init(owner, page: error.page, offset: error.page == nil ? nil : error.offset.map { Int(clamping: $0) }, error.message)
    }
}

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

import TestSupport

/// The entities of `GraphModel`.
package enum GraphKind: String, Codable, CaseIterable, Sendable {
    case person = "Person", group = "Group", tag = "Tag", task = "Task", book = "Book"
}

/// One object as plain values: objects by their numbers. The other sides of relationships follow from this one.
package struct GraphRow: Codable, Equatable, Sendable {
    package let kind: GraphKind
    /// Attributes by name; of nothing nothing.
    package var values: [String: SampleValue] = [:]
    package var group: Int?
    package var tags: Set<Int> = []
    package var tasks: [Int] = []
    package var books: [Int] = []

    package init(_ kind: GraphKind) {
        self.kind = kind
    }
}

/// One object as a context shows it.
package struct GraphSight: Codable, Equatable, Sendable {
    package var row: GraphRow
    /// Who points at it: a group's or a tag's people, a task's owner, a book's readers.
    package var sources: Set<Int>

    package init(row: GraphRow, sources: Set<Int>) {
        self.row = row
        self.sources = sources
    }
}

/// One change of a graph. Whatever has two sides may be made from either.
package enum GraphEdit: Codable, Equatable, Sendable {
    case insert(Int, GraphKind)
    /// Several attributes at once; nil for nothing.
    case values(Int, [String: SampleValue?])
    case group(Int, Int?, isFromGroup: Bool)
    case tag(Int, Int, isIn: Bool, isFromTag: Bool)
    /// A task goes to the end of a person's list, or to nobody.
    case owner(Int, Int?)
    case tasks(Int, [Int])
    case book(Int, Int, isIn: Bool, isFromBook: Bool)
    case books(Int, [Int])
    case delete(Int)
}

/// What one process asks of another.
package enum GraphRequest: Codable, Sendable {
    /// Makes the edits and saves them; answers with nothing.
    case commit([GraphEdit])
    /// Answers with all that is in the store.
    case look
}

/// What it is answered.
package struct GraphReply: Codable, Sendable {
    package var sights: [Int: GraphSight] = [:]
    package var failure: String?

    package init() {}
}

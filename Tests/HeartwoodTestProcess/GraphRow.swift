import HeartwoodTestSupport

/// The entities of `GraphModel`.
package enum GraphKind: String, Codable, CaseIterable, Sendable {
    case person = "Person", group = "Group", tag = "Tag", task = "Task", book = "Book"
}

/// One object as plain values: objects by their numbers. The inverses of relationships follow from this side.
package struct GraphRow: Codable, Equatable, Sendable {
    package let kind: GraphKind
    /// Attributes by name; null attributes have no entry.
    package var values: [String: SampleValue] = [:]
    package var group: Int?
    package var tags: Set<Int> = []
    package var tasks: [Int] = []
    package var books: [Int] = []

    package init(_ kind: GraphKind) {
        self.kind = kind
    }
}

/// One object in a context's view.
package struct GraphSight: Codable, Equatable, Sendable {
    package var row: GraphRow
    /// The objects that refer to it: a group's or a tag's people, a task's owner, a book's readers.
    package var sources: Set<Int>

    package init(row: GraphRow, sources: Set<Int>) {
        self.row = row
        self.sources = sources
    }
}

/// One change of a graph. A relationship may be changed from either side.
package enum GraphEdit: Codable, Equatable, Sendable {
    case insert(Int, GraphKind)
    /// Several attributes at once; nil for null.
    case values(Int, [String: SampleValue?])
    case group(Int, Int?, isFromGroup: Bool)
    case tag(Int, Int, isIn: Bool, isFromTag: Bool)
    /// Moves a task to the end of a person's list, or to no owner.
    case owner(Int, Int?)
    case tasks(Int, [Int])
    case book(Int, Int, isIn: Bool, isFromBook: Bool)
    case books(Int, [Int])
    case delete(Int)
}

/// A request of one process to another.
package enum GraphRequest: Codable, Sendable {
    /// Makes the edits and saves them; the answer is empty.
    case commit([GraphEdit])
    /// Answers with the store's whole content.
    case look
}

/// The answer to a request.
package struct GraphReply: Codable, Sendable {
    package var sights: [Int: GraphSight] = [:]
    package var failure: String?

    package init() {}
}

import Foundation
import RecordLog

/// One consistent state of a store, to read from.
class StoreView {
    /// Whether no commit has come after this one, as far as this process knows, and the store is still there.
    var isNewest: Bool { false }

    /// The file that the rows of this view lie in; nil where a store is asked for them.
    var file: LogFile? { nil }

    /// Has `memory` keep what the rows of this view lie in.
    func keepRows(in memory: inout RowMemory) {
        if let file { memory.add(file) }
    }

    func row(_ key: ObjectKey) throws -> RowView? { nil }

    /// The row at one of its versions, this view's or an earlier one; nil where the store does not have it any more.
    func row(_ key: ObjectKey, version: UInt32) throws -> RowView? { nil }

    /// The members that the store lists for a to-many relationship, in its order.
    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] { [] }

    func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int { 0 }

    /// The first member, in the store's order, that is wanted.
    /// - Complexity: O(members before it); no row is read.
    func firstMember(
        of key: ObjectKey, runtime: EntityRuntime, property: Int, where isWanted: (ObjectKey) -> Bool
    ) throws -> ObjectKey? { try members(of: key, runtime: runtime, property: property).first(where: isWanted) }

    /// Whether the store lists `member` among the members. One look-up.
    func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool {
        try members(of: key, runtime: runtime, property: property).contains(member)
    }

    /// Binary data that a row of this view has in itself, whatever its length; nil where the row says where the data are.
    func dataInRow(_ access: ColumnAccess, of row: RowView) -> Data? { nil }

    /// Whether the store is asked by requests in place of queries on rows.
    var answersRequests: Bool { false }

    /// The objects that a query asks for, in its order, from a store that answers requests.
    /// - Returns: nil where the store does not know the query's predicate, order or window.
    func keys(_ query: StoreQuery) throws -> [ObjectKey]? { nil }

    /// The dictionaries that a query's request asks for; nil where they are to be made of rows or objects.
    func dictionaries(_ query: StoreQuery) throws -> [NSDictionary]? { nil }

    /// Calls `body` with each row that a query asks for, in its order, until it returns false.
    /// - Returns: nil where the store cannot evaluate the query on rows; `body` was not called then.
    func execute(_ query: StoreQuery, _ body: (RowView) throws -> Bool) throws -> QueryStatistics? { nil }

    /// Calls `body` with the row that has a value of a uniqueness constraint, if any has.
    /// - Parameter key: for what the index is asked.
    /// - Returns: the index; nil where only a query finds it: `body` was not called then.
    func lookUp(
        _ lookup: ConstraintLookup, _ runtime: EntityRuntime, _ key: KeyBuilder, _ body: (RowView) throws -> Void
    ) throws -> EntityTable.Lookup? { nil }

    /// As `execute`, in two steps; nil where that gives nil.
    func prepared(_ query: StoreQuery) throws -> PreparedQuery? { nil }

    /// Computes dictionaries' values, or groups of them, for the rows that a query asks for.
    /// - Returns: nil where the store cannot compute them from rows; the sink was given nothing then.
    func tabulate(_ query: StoreQuery, _ shape: ResultShape, into sink: ResultSink) throws -> QueryStatistics? { nil }

    /// Which of the store's commits this is; nil where it does not say.
    var commit: UInt64? { nil }

    /// Calls `body` with each row that a query asks for, in its order, and a function that reads one of some key paths of it.
    /// - Returns: nil where the store cannot read them from rows; nothing was called then.
    func read(
        _ paths: [[String]], of query: StoreQuery, _ body: (RowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics? { nil }

    /// Calls `body` with each key and its row.
    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, RowView?) throws -> Void) throws {
        for key in keys { try body(key, try row(key)) }
    }

    /// The members of one to-many relationship of several objects, in the store's order.
    /// - Parameter keys: in rising order, each once.
    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        try keys.map { try members(of: $0, runtime: runtime, property: property) }
    }

    /// How many rows a query matches, its limit and offset aside; nil where `execute` gives nil.
    func counted(_ query: StoreQuery) throws -> QueryStatistics? { nil }
}

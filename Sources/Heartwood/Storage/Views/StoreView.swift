import Foundation
import RecordLog

/// A consistent state of a store for reading.
protocol StoreView: AnyObject {
    /// Whether this is the newest commit that this process knows of, in a store that is still open.
    var isNewest: Bool { get }

    /// The file that contains this view's rows; nil where a store answers requests.
    var file: LogFile? { get }

    /// Makes `memory` hold the memory of this view's rows.
    func keepRows(in memory: inout RowMemory)

    /// Returns a row of another view of this store in memory that this view keeps. The files of the other view are kept by the caller.
    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView

    func row(_ key: ObjectKey) throws -> UnsafeRowView?

    /// Returns the row at one of its versions, this view's or an earlier one; nil where the store no longer has it.
    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView?

    /// Returns the stored members of a to-many relationship, in the store's order.
    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey]

    func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int

    /// Returns the first member, in the store's order, for which `isIncluded` is true.
    /// - Complexity: O(members before it); no row is read.
    func firstMember(
        of key: ObjectKey, runtime: EntityRuntime, property: Int, where isIncluded: (ObjectKey) -> Bool
    ) throws -> ObjectKey?

    /// Whether `member` is a stored member of the relationship. One lookup.
    func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool

    /// Returns binary data of any length that the row itself contains; nil where the row contains only their location.
    /// - Throws: where the row names a file that cannot be read.
    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) throws -> Data?

    /// Whether the store answers requests instead of queries on rows.
    var answersRequests: Bool { get }

    /// Returns the objects that match a query, in its order, from a store that answers requests.
    /// - Returns: nil where the store does not know the query's predicate, order or window.
    func keys(_ query: StoreQuery) throws -> [ObjectKey]?

    /// Returns the dictionaries that a query's request asks for; nil where they must be built from rows or objects.
    func dictionaries(_ query: StoreQuery) throws -> [NSDictionary]?

    /// Calls `body` with each row that matches a query, in its order, until it returns false.
    /// - Returns: nil where the store cannot evaluate the query on rows; `body` was not called then.
    func execute(_ query: StoreQuery, _ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics?

    /// Compiles a query for later execution; nil where `execute` returns nil.
    func compiled(_ query: StoreQuery) throws -> CompiledQuery?

    /// Computes the values of dictionaries, or of groups, from the rows that match a query.
    /// - Returns: nil where the store cannot compute them from rows; the sink has received nothing then.
    func tabulate(_ query: StoreQuery, _ shape: ResultShape, into sink: ResultSink) throws -> QueryStatistics?

    /// The sequence number of this commit; nil where the store has none.
    var commit: UInt64? { get }

    /// Calls `body` with each row that matches a query, in its order, and a function that reads one of the key paths of that row, by its index.
    /// - Returns: nil where the store cannot read them from rows; `body` was not called then.
    func read(
        _ paths: [[String]], of query: StoreQuery, _ body: (UnsafeRowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics?

    /// Calls `body` with each key and its row.
    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws

    /// Returns the members of one to-many relationship of several objects, in the store's order.
    /// - Parameter keys: ascending, each once.
    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]]

    /// Counts the rows that match a query, without its limit and offset; nil where `execute` returns nil.
    func counted(_ query: StoreQuery) throws -> QueryStatistics?
}

/// The defaults: the slow way, or nil for a question that the stack answers itself.
extension StoreView {
    var file: LogFile? { nil }

    func keepRows(in memory: inout RowMemory) {
        if let file { memory.add(file) }
    }

    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView { row }

    func firstMember(
        of key: ObjectKey, runtime: EntityRuntime, property: Int, where isIncluded: (ObjectKey) -> Bool
    ) throws -> ObjectKey? { try members(of: key, runtime: runtime, property: property).first(where: isIncluded) }

    func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool {
        try members(of: key, runtime: runtime, property: property).contains(member)
    }

    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) -> Data? { nil }

    var answersRequests: Bool { false }

    func keys(_ query: StoreQuery) throws -> [ObjectKey]? { nil }

    func dictionaries(_ query: StoreQuery) throws -> [NSDictionary]? { nil }

    func execute(_ query: StoreQuery, _ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics? { nil }

    func compiled(_ query: StoreQuery) throws -> CompiledQuery? { nil }

    func tabulate(_ query: StoreQuery, _ shape: ResultShape, into sink: ResultSink) throws -> QueryStatistics? { nil }

    var commit: UInt64? { nil }

    func read(
        _ paths: [[String]], of query: StoreQuery, _ body: (UnsafeRowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics? { nil }

    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        for key in keys { try body(key, try row(key)) }
    }

    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        try keys.map { try members(of: $0, runtime: runtime, property: property) }
    }

    func counted(_ query: StoreQuery) throws -> QueryStatistics? { nil }
}

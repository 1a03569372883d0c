import Foundation
import Heartwood
import Synchronization

/// A server of databases in this process, in place of one behind a network. A client that connects to the same URL sees the same rows.
package enum TableServer {
    private static let databases = Mutex<[String: Database]>([:])

    private static func name(_ url: URL) -> String { url.standardizedFileURL.absoluteString }

    /// The database at a URL; nil if there is none.
    package static func database(at url: URL) -> Database? { databases.withLock { $0[name(url)] } }

    /// The database at a URL, made if there is none.
    static func madeDatabase(at url: URL) -> Database {
        databases.withLock { databases in
            if let known = databases[name(url)] { return known }
            let made = Database(at: url)
            databases[name(url)] = made
            return made
        }
    }

    /// Removes the database at a URL. Clients that are connected keep what they have read.
    package static func drop(_ url: URL) { databases.withLock { $0[name(url)] = nil } }

    /// Puts a copy of one database in the place of another.
    static func copy(_ source: Database, to url: URL) {
        let copy = Database(at: url)
        copy.state = source.newest
        databases.withLock { $0[name(url)] = copy }
    }
}

/// One database: its newest state, and a lock that lets one transaction change it at a time. A state is a value, so a client that holds one reads
/// on in it.
package final class Database: @unchecked Sendable {
    // Unchecked: `lock` guards the mutable properties. A transaction's body runs without it, since code of the program in it may read.
    private let lock = NSLock()
    private let writers = WriterTurn()
    private let url: URL
    fileprivate var state = DatabaseState()
    private var listeners: [Listener] = []

    fileprivate init(at url: URL) { self.url = url }

    private struct Listener {
        weak var owner: AnyObject?
        let call: @Sendable () -> Void
    }

    var newest: DatabaseState { lock.withLock { state } }

    /// The number of pairs of all relationships that have a table.
    package var pairCount: Int { newest.links.reduce(0) { $0 + $1.forward.values.reduce(0) { $0 + $1.count } } }

    /// Runs a transaction on a copy of the newest state, after those of other threads.
    /// - Parameter body: returns whether its changes become a commit.
    /// - Returns: the newest state afterwards.
    /// - Throws: 134070 within a transaction of this thread; what `body` throws. Nothing has changed then.
    func write(_ body: (inout DatabaseState) throws -> Bool) throws -> DatabaseState {
        try writers.take(url.path) {
            let base = newest
            var next = base
            guard try body(&next) else { return base }
            next.sequence += 1
            let calls = lock.withLock {
                state = next
                return listeners
            }
            for listener in calls { DispatchQueue.global().async(execute: listener.call) }
            return next
        }
    }

    /// Takes a number for a new row, without a commit: a transaction that fails does not give it back.
    func reserve(_ table: Int) throws -> UInt64 {
        try writers.take(url.path) { lock.withLock { state.tables[table].newNumber() } }
    }

    /// Calls `body` on another thread after each commit, while `owner` lives.
    func listen(_ owner: AnyObject, _ body: @escaping @Sendable () -> Void) {
        lock.withLock {
            listeners.removeAll { $0.owner == nil }
            listeners.append(Listener(owner: owner, call: body))
        }
    }
}

/// The tables of one database as of one commit.
struct DatabaseState: @unchecked Sendable {
    // Unchecked: metadata are property lists, which do not change.
    var sequence: UInt64 = 0
    /// nil until a client has made the tables.
    var metadata: [String: Any]?
    var tables: [ServerTable] = []
    var links: [ServerLinks] = []
    var constraints: [ServerConstraint] = []
    var keepsHistory = false
    var transactions: [ServerTransaction] = []
    /// The number of the newest transaction, which may have been deleted.
    var transactionCount: Int64 = 0

    func row(_ reference: ServerReference) -> ServerRow? { tables[reference.table].rows[reference.number] }

    /// Writes a row, and its entries in the indexes.
    mutating func put(_ reference: ServerReference, _ values: [ServerValue?], version: UInt32) {
        let old = row(reference)
        for index in constraints.indices { constraints[index].replace(old?.values, values, of: reference) }
        tables[reference.table].put(reference.number, ServerRow(values: values, version: version))
    }

    /// Removes a row, and its pairs on both sides of all relationships.
    mutating func delete(_ reference: ServerReference) {
        guard let old = row(reference) else { return }
        for index in constraints.indices { constraints[index].replace(old.values, nil, of: reference) }
        for index in links.indices { links[index].removeAll(of: reference) }
        tables[reference.table].delete(reference.number)
    }
}

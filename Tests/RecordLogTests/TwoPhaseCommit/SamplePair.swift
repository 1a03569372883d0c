import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Two stores on one disk, and their expected content.
final class SamplePair {
    typealias Contents = [UInt64: SampleStore.Person]

    struct State: Equatable {
        var first: Contents = [:]
        var second: Contents = [:]
    }

    static let paths = ["one/first.heartwood", "two/second.heartwood"]

    let disk: any FileSystem
    var first, second: SampleStore
    var state = State()

    init(_ disk: any FileSystem, isWide: Bool = false, _ configure: @escaping (inout StoreOptions) -> Void = { _ in }) throws {
        func quick(_ options: inout StoreOptions) {
            options.segmentShift = 16
            options.zeroAheadBytes = 0
            options.lockTimeout = .zero
            configure(&options)
        }
        self.disk = disk
        first = try SampleStore(fileSystem: disk, path: Self.paths[0], isWide: isWide, quick)
        second = try SampleStore(fileSystem: disk, path: Self.paths[1], isWide: isWide, quick)
        state = try contents()
    }

    var stores: [LogStore] { [first.store, second.store] }

    /// The content of the handles' own snapshots.
    func contents() throws -> State {
        State(first: try first.contents(first.store.snapshot()), second: try second.contents(second.store.snapshot()))
    }

    /// Adds one person to each store.
    func add(_ name: String) throws {
        var next = state
        try LogStore.write(to: stores, author: "pair") { transactions in
            next = try add(name, transactions)
        }
        state = next
    }

    func add(_ name: String, _ transactions: [Transaction]) throws -> State {
        var next = state
        let person = SampleStore.Person(name: name, age: Int64(state.first.count), group: 1)
        let row = try transactions[0].newRow(in: first.table.id), other = try transactions[1].newRow(in: second.table.id)
        try first.put(transactions[0], row, person)
        try second.put(transactions[1], other, person)
        next.first[row] = person
        next.second[other] = person
        return next
    }

    private struct WrongIndex: Error, CustomStringConvertible {
        let description: String
    }

    /// The content that new readers of the files find; they open the second file first if `backwards` is set. Writes nothing.
    /// - Throws: if their indexes differ from their rows.
    static func read(_ disk: any FileSystem, backwards: Bool = false) throws -> State {
        func contents(_ path: String) throws -> Contents {
            var options = StoreOptions()
            options.fileSystem = disk
            options.isReadOnly = true
            let store = try LogStore.open(path: path, options: options)
            guard let sample = SampleStore(reading: store) else { return [:] }
            let found = try sample.contents(store.snapshot())
            if let problem = try sample.mismatch(store.snapshot(), found) { throw WrongIndex(description: "a reader of \(path): " + problem) }
            return found
        }
        if backwards {
            let second = try contents(paths[1])
            return State(first: try contents(paths[0]), second: second)
        }
        let first = try contents(paths[0])
        return State(first: first, second: try contents(paths[1]))
    }

    var mismatch: String? {
        get throws { try mismatch(state) }
    }

    func mismatch(_ state: State) throws -> String? {
        try first.mismatch(first.store.snapshot(), state.first).map { "first: " + $0 }
            ?? second.mismatch(second.store.snapshot(), state.second).map { "second: " + $0 }
    }

    /// The commit coordinator's index in `paths`.
    var coordinator: Int { first.store.storeID < second.store.storeID ? 0 : 1 }
}

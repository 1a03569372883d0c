import Foundation
import RecordLog
import Synchronization
import Testing

@testable import Heartwood

/// A clock that the test sets.
final class HandClock: Sendable {
    private let time = Mutex(0.0)

    var now: Double {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

extension RecordLogStore {
    func useClock(_ clock: HandClock) { history.setClock { clock.now } }

    /// The list of falls (transactions dated before their predecessor) at the newest commit.
    func historyFalls() throws -> HistoryFalls? {
        guard let snapshot = log?.snapshot(), let table = try history.table(in: snapshot.catalog) else { return nil }
        return try HistoryFalls(of: table.id, in: snapshot)
    }

    /// Whether the store has a list of falls.
    func hasFallList() throws -> Bool { try log?.snapshot().unsafeSystemValue(RecordLogSystemRow.historyFalls) != nil }
}

/// A history as a plain list.
struct PlainHistory: Equatable {
    struct Entry: Equatable {
        let number: Int64
        let time: Double
    }

    var entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    init(_ transactions: [NSPersistentHistoryTransaction]) {
        entries = transactions.map { Entry(number: $0.transactionNumber, time: $0.timestamp.timeIntervalSinceReferenceDate) }
    }

    func numbers(after time: Double) -> [Int64] { entries.filter { $0.time > time }.map(\.number) }

    mutating func delete(before time: Double) { entries.removeAll { $0.time < time } }

    /// Dates before, at, between and after all transactions.
    var dates: [Double] {
        let times = Set(entries.map(\.time)).sorted()
        let between = zip(times, times.dropFirst()).map { ($0 + $1) / 2 }
        return (times.flatMap { [$0.nextDown, $0, $0.nextUp] } + between + [-1e11, 1e11]).sorted()
    }
}

/// The error of the clock while a history is written: for each transaction, how far the clock is ahead of the right time.
struct ClockCourse: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let offsets: [Double]

    static let count = 12
    /// The right time of each transaction, less than a second after the one before.
    static func rightTime(_ index: Int) -> Double { 8e8 + Double(index) * 0.25 }

    /// Correct clocks; and clocks that are ahead by a second, an hour or a year, or behind, for one transaction or several.
    static let all: [ClockCourse] = {
        let spans: [(String, Set<Int>)] = [
            ("one", [4]), ("several", [3, 4, 5, 6]), ("twice", [2, 3, 8]), ("the first", [0]), ("the last", [11]),
            ("every second", [1, 3, 5, 7, 9, 11]),
        ]
        let offsets: [(String, Double)] = [
            ("ahead by a second", 1), ("ahead by an hour", 3600), ("ahead by a year", 365 * 86400), ("behind by an hour", -3600),
        ]
        let wrong = spans.flatMap { span in
            offsets.map { offset in
                ClockCourse(
                    testDescription: "\(offset.0), \(span.0)", offsets: (0..<count).map { span.1.contains($0) ? offset.1 : 0 })
            }
        }
        let stairs = ClockCourse(testDescription: "less and less ahead", offsets: (0..<count).map { Double(count - 1 - $0) * 100 })
        let standing = ClockCourse(testDescription: "standing still", offsets: (0..<count).map { -Double($0) * 0.25 })
        return [ClockCourse(testDescription: "right", offsets: Array(repeating: 0, count: count)), stairs, standing] + wrong
    }()

    /// A store with transactions made with this clock.
    func stack(_ kind: StoreKind = .inMemory) throws -> TestStack {
        let stack = try TestStack.tracking(kind), clock = HandClock()
        stack.store.useClock(clock)
        for (index, offset) in offsets.enumerated() {
            clock.now = Self.rightTime(index) + offset
            stack.insert("Group", ["title": "\(index)"])
            try stack.context.save()
        }
        return stack
    }
}

extension TestStack {
    /// All transactions, found without a search by date.
    func plainHistory() throws -> PlainHistory { PlainHistory(try transactions()) }

    func numbers(after time: Double) throws -> [Int64] {
        let found = try ask(.fetchHistory(after: Date(timeIntervalSinceReferenceDate: time)), .transactionsOnly)
        return (found as? [NSPersistentHistoryTransaction] ?? []).map(\.transactionNumber)
    }
}

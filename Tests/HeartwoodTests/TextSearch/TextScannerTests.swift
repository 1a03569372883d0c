import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// The rows that several terms have, beside sets.
@Suite struct TextScannerTests {
    /// - Parameter buffer: the rows to take at once.
    private func rows(_ groups: [[[UInt64]]], long: [[UInt64]] = [], buffer: Int) throws -> [UInt64] {
        let scanner = TextScanner(groups: groups.map { $0.map(TextPostings.init) }, long: long.map(TextPostings.init))
        let rows = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: buffer)
        defer { rows.deallocate() }
        var result: [UInt64] = [], count = buffer
        while count == buffer {
            count = try scanner.take(into: rows)
            result += rows[..<count]
        }
        #expect(try scanner.take(into: rows) == 0, "after the end there are no rows")
        return result
    }

    private func expected(_ groups: [[[UInt64]]], long: [[UInt64]] = []) -> [UInt64] {
        let sets = groups.map { Set($0.joined()) }
        let all = sets.dropFirst().reduce(sets.first ?? []) { $0.intersection($1) }
        return all.union(long.joined()).sorted()
    }

    @Test
    func `Small lists in every combination of two groups give the rows that both have, with long texts or without`() throws {
        let lists: [[UInt64]] = (0..<16).map { bits in (0..<4).filter { bits >> $0 & 1 == 1 }.map { UInt64($0 + 1) } }
        for first in lists {
            for second in lists {
                for long in [[], [2], [1, 4], [5]] as [[UInt64]] {
                    for buffer in [1, 3, 64] {
                        let groups = [[first], [second]], longs = long.isEmpty ? [] : [long]
                        #expect(
                            try rows(groups, long: longs, buffer: buffer) == expected(groups, long: longs), "\(first) \(second) \(long) by \(buffer)")
                    }
                }
                #expect(try rows([[first, second]], buffer: 3) == expected([[first, second]]), "\(first) or \(second)")
                #expect(try rows([[first, second], [[2, 3]]], buffer: 3) == expected([[first, second], [[2, 3]]]), "\(first) or \(second), and 2, 3")
            }
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `Lists of any length and density give the rows that all have`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func list() -> [UInt64] {
            let share = [1, 5, 50, 95].randomElement(using: &random) ?? 1, count = [0, 10, 300, 5000].randomElement(using: &random) ?? 0
            let start = UInt64.random(in: 1...2000, using: &random)
            return (0..<UInt64(count)).filter { _ in Int.random(in: 0..<100, using: &random) < share }.map { start + $0 }
        }
        for _ in 0..<20 {
            let groups = (0..<Int.random(in: 1...4, using: &random)).map { _ in (0..<Int.random(in: 1...3, using: &random)).map { _ in list() } }
            let long = Int.random(in: 0..<3, using: &random) == 0 ? [list()] : []
            let buffer = Int.random(in: 1...100, using: &random)
            #expect(try rows(groups, long: long, buffer: buffer) == expected(groups, long: long), "seed \(seed)")
        }
    }

    /// Rows of a frequent term lie in many intervals and blocks, and rare ones far apart in them.
    @Test
    func `A fetch by rare and frequent terms finds the rows of a scan, whatever the distance between them`() throws {
        let stack = try TestStack(.recordLog, model: NoteStack.model())
        let everies = [1, 2, 3, 7, 30, 31, 33, 97, 640, 2999], rowCount = 3000
        func word(_ every: Int) -> String { "w\(String(every * 7919, radix: 26))x" }
        for number in 0..<rowCount {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: stack.context)
            note.setValue(number, forKey: "number")
            note.setValue(everies.filter { number % $0 == 0 }.map(word).joined(separator: " "), forKey: "text")
        }
        try stack.context.save()
        // The second time the entries are in blocks.
        for isCompacted in [false, true] {
            if isCompacted { _ = try stack.coordinator.persistentStores.first?.compactRecordLog() }
            for first in everies {
                for second in everies {
                    let both = NSPredicate(format: "text CONTAINS[cd] %@ AND text CONTAINS[cd] %@", word(first), word(second))
                    let found = try QueryTuning.with(QueryTuning(access: .index("index:byText"))) { try NoteStack.numbers(stack, both) }
                    let wanted = (0..<rowCount).filter { $0 % first == 0 && $0 % second == 0 }
                    #expect(found.sorted() == wanted, "every \(first) and every \(second)")
                }
            }
        }
    }
}

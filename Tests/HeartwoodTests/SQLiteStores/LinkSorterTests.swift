import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct LinkSorterTests {
    private struct Twice: Error {}

    private static func entry(_ key: Int) -> LinkSorter.Entry { LinkSorter.Entry(key: Int64(key), first: Int64(key * 3), second: Int64(-key)) }

    @Test("Entries come back by their keys, however many runs they make", arguments: [0, 1, 2, 3, 4, 5, 9, 16, 17, 100, 1000], [1, 2, 3, 16, 2000])
    func entriesComeSorted(count: Int, capacity: Int) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let mixed = (0..<count).sorted { ($0 % 5, $0) < ($1 % 5, $1) }
            let orders: [[Int]] = [Array(0..<count), (0..<count).reversed(), mixed]
            for (number, keys) in orders.enumerated() {
                let sorter = LinkSorter(ScratchFile(path: folder.appendingPathComponent("runs\(number)").path), capacity: capacity)
                for key in keys { try sorter.add(Self.entry(key)) }
                try sorter.finish()
                var found: [LinkSorter.Entry] = []
                while let entry = try sorter.next() { found.append(entry) }
                #expect(found.map { Int($0.key) } == keys.sorted(), "order \(number)")
                #expect(found.allSatisfy { $0.first == 3 * $0.key && $0.second == -$0.key })
            }
        }
    }

    @Test("Rising keys find their entries, and entries of other keys are left out", arguments: [1, 4, 100])
    func keysFindTheirEntries(capacity: Int) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let sorter = LinkSorter(ScratchFile(path: folder.appendingPathComponent("runs").path), capacity: capacity)
            for key in [9, 3, 6, 1, 12] { try sorter.add(Self.entry(key)) }
            try sorter.finish()
            let found = try (1...13).filter { $0 != 6 }.filter { try sorter.take(Int64($0)) { _, _ in Twice() } != nil }
            #expect(found == [1, 3, 9, 12])
        }
    }

    @Test("A second entry of a key is an error", arguments: [1, 100]) func twoEntriesAreAnError(capacity: Int) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let sorter = LinkSorter(ScratchFile(path: folder.appendingPathComponent("runs").path), capacity: capacity)
            for key in [5, 2, 5] { try sorter.add(Self.entry(key)) }
            try sorter.finish()
            #expect(try sorter.take(2) { _, _ in Twice() }?.first == 6)
            #expect(throws: Twice.self) { try sorter.take(5) { _, _ in Twice() } }
        }
    }
}

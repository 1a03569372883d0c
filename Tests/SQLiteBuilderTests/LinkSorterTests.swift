import Testing

@testable import HeartwoodSQLiteBuilder

@Suite struct LinkSorterTests {
    private struct Twice: Error {}

    private static func link(_ key: Int) -> SQLiteLinkSorter.Link {
        SQLiteLinkSorter.Link(key: Int64(key), first: Int64(key * 3), second: Int64(-key))
    }

    /// The memory in bytes, and the most runs that are merged at once. 4 KiB hold 85 links.
    private static let sorts = [(0, 2), (0, 64), (4096, 3), (8 << 20, 64)]

    private static func sorter(_ path: String, _ sort: (Int, Int)) -> SQLiteLinkSorter {
        SQLiteLinkSorter(SortSpace(path: path, files: POSIXBuildFiles(), memoryMax: sort.0, fanIn: sort.1))
    }

    @Test(arguments: [0, 1, 2, 84, 85, 86, 170, 171, 1000], sorts)
    func `Links come back by their keys, however many runs they make`(count: Int, sort: (Int, Int)) throws {
        try BuiltFile.withPath { path in
            let mixed = (0..<count).sorted { ($0 % 5, $0) < ($1 % 5, $1) }
            let orders: [[Int]] = [Array(0..<count), (0..<count).reversed(), mixed]
            for (number, keys) in orders.enumerated() {
                let sorter = Self.sorter(path, sort)
                for key in keys { try sorter.add(Self.link(key)) }
                try sorter.finish()
                var found: [SQLiteLinkSorter.Link] = []
                while let link = try sorter.next() { found.append(link) }
                #expect(found == (0..<count).map(Self.link), "order \(number)")
                #expect(try BuiltFile.names(beside: path) == [], "no temporary file has a name")
            }
        }
    }

    @Test(arguments: sorts)
    func `Keys of all sizes are in their order, also those that a real number cannot tell apart`(sort: (Int, Int)) throws {
        let ends: [Int64] = [.max - 3, .min + 3, 1 << 53, 1 << 62, 0]
        let keys = ends.flatMap { end in (-3...3).map { end + $0 } } + (100..<300).map { -Int64($0) }
        try BuiltFile.withPath { path in
            let sorter = Self.sorter(path, sort)
            for key in keys { try sorter.add(SQLiteLinkSorter.Link(key: key, first: ~key, second: .min)) }
            try sorter.finish()
            for key in keys.sorted() { #expect(try sorter.next() == SQLiteLinkSorter.Link(key: key, first: ~key, second: .min)) }
            #expect(try sorter.next() == nil)
        }
    }

    @Test(arguments: sorts)
    func `Rising keys find their links, and links of other keys are left out`(sort: (Int, Int)) throws {
        try BuiltFile.withPath { path in
            let sorter = Self.sorter(path, sort)
            for key in [9, 3, 6, 1, 12] + (100..<300) { try sorter.add(Self.link(key)) }
            try sorter.finish()
            let found = try (1...13).filter { $0 != 6 }.filter { try sorter.take(Int64($0)) { _, _ in Twice() } != nil }
            #expect(found == [1, 3, 9, 12])
        }
    }

    @Test(arguments: sorts)
    func `A second link of a key is an error`(sort: (Int, Int)) throws {
        try BuiltFile.withPath { path in
            let sorter = Self.sorter(path, sort)
            for key in [5, 2, 5] + (100..<300) { try sorter.add(Self.link(key)) }
            try sorter.finish()
            #expect(try sorter.take(2) { _, _ in Twice() }?.first == 6)
            #expect(throws: Twice.self) { try sorter.take(5) { _, _ in Twice() } }
        }
    }
}

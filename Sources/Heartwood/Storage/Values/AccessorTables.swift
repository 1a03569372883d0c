import Synchronization

/// Indexes of one entity's properties, by `ManagedProperties.number`. Any thread may read them.
///
/// A directory of tables never changes; a larger one replaces it. Old directories are kept, since another thread may still read them.
struct AccessorTables: ~Copyable, @unchecked Sendable {
    // Unchecked: a stored directory's tables do not change.

    /// Word 0: the number of tables. Word 1: the previous directory. Then the tables' addresses, 0 for none.
    private let directory = Atomic<UnsafeMutablePointer<UInt>?>(nil)
    private static let headerWords = 2
    private static let lock = Mutex(())

    /// - Returns: the indexes by position in the list; -1 where the entity has no such property. nil where the table does not exist yet.
    @inline(__always)
    borrowing func table(_ number: Int) -> UnsafePointer<Int>? {
        guard let words = directory.load(ordering: .acquiring), number < Int(bitPattern: words[0]) else { return nil }
        return UnsafePointer(bitPattern: words[Self.headerWords + number])
    }

    @inline(never)
    borrowing func addTable(_ number: Int, _ indexes: [Int]) -> UnsafePointer<Int> {
        Self.lock.withLock { _ in
            if let known = table(number) { return known }
            let old = directory.load(ordering: .relaxed)
            let oldCount = old.map { Int(bitPattern: $0[0]) } ?? 0
            let count = max(oldCount, number + 1)
            let words = UnsafeMutablePointer<UInt>.allocate(capacity: Self.headerWords + count)
            words.initialize(repeating: 0, count: Self.headerWords + count)
            words[0] = UInt(count)
            words[1] = UInt(bitPattern: old)
            if let old {
                for index in 0..<oldCount { words[Self.headerWords + index] = old[Self.headerWords + index] }
            }
            let table = UnsafeMutablePointer<Int>.allocate(capacity: max(indexes.count, 1))
            table.initialize(from: indexes, count: indexes.count)
            words[Self.headerWords + number] = UInt(bitPattern: table)
            directory.store(words, ordering: .releasing)
            return UnsafePointer(table)
        }
    }

    deinit {
        var next = directory.load(ordering: .acquiring)
        if let words = next {
            for index in 0..<Int(bitPattern: words[0]) {
                UnsafeMutablePointer<Int>(bitPattern: words[Self.headerWords + index])?.deallocate()
            }
        }
        while let words = next {
            next = UnsafeMutablePointer(bitPattern: words[1])
            words.deallocate()
        }
    }
}

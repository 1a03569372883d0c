/// Sorts of one file share a bound of memory, and a temporary file for entries beyond it.
final class SortSpace {
    private let path: String
    private let files: any BuildFiles
    private var sorters: [Unowned] = []
    private var file: (any BuildFile)?
    /// Of the temporary file.
    private(set) var size: UInt64 = 0
    /// In bytes, for the entries of all indexes.
    let memoryMax: Int
    /// The most runs that are read at once.
    let fanIn: Int

    private struct Unowned { unowned let sorter: EntrySorter }

    init(path: String, files: any BuildFiles, memoryMax: Int = 16 << 20, fanIn: Int = 64) {
        self.path = path
        self.files = files
        self.memoryMax = memoryMax
        self.fanIn = fanIn
    }

    deinit { close() }

    func close() {
        file?.close()
        file = nil
    }

    func makeSorter(_ order: EntryOrder) -> EntrySorter {
        let sorter = EntrySorter(order, space: self)
        sorters.append(Unowned(sorter: sorter))
        return sorter
    }

    /// Writes entries to the temporary file until one sort may take more memory.
    func makeRoom(_ count: Int) throws(SQLiteBuildError) {
        while true {
            let total = sorters.reduce(0) { $0 + $1.sorter.capacity }
            guard total + count > memoryMax, let largest = sorters.map(\.sorter).max(by: { $0.capacity < $1.capacity }) else { return }
            // A single entry may be longer than the bound.
            guard largest.count > 0 else { return }
            try largest.spill()
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(SQLiteBuildError) {
        let file = try temporary()
        try file.write(bytes, at: size)
        size += UInt64(bytes.count)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) {
        guard try temporary().read(into: buffer, at: offset) == buffer.count else { throw cut() }
    }

    private func temporary() throws(SQLiteBuildError) -> any BuildFile {
        if let file { return file }
        let made = try files.createTemporary(beside: path)
        file = made
        return made
    }

    func cut() -> SQLiteBuildError {
        SQLiteBuildError(.io, path: path, "the temporary file of the sort has lost bytes", remedy: "Check the disk, and try again.")
    }
}

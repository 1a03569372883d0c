/// Reads a whole checkpoint: the manifest, each page of the primary indexes, each block of the other indexes.
///
/// A restored file may have pads where a base archive has frames of a checkpoint: damaged ones, and those that a file filled from other
/// archives lacks. The newest checkpoint that is whole is the one to open the store with.
struct CheckpointCheck: ~Copyable {
    private let file: LogFile
    private let frames: TailReader
    private var bytes = ReadBuffer()

    init(_ file: LogFile) {
        self.file = file
        frames = TailReader(file)
    }

    /// - Parameter size: the end of the file.
    /// - Throws: what the file system throws. Damage is no error.
    /// - Complexity: O(bytes of the indexes); memory for the directories and one frame.
    mutating func isWhole(_ pointer: FramePointer, size: UInt64) throws(StoreError) -> Bool {
        do throws(StoreError) {
            guard let frame = try frames.frame(at: pointer.offset, limit: size), frame.header.kind == .checkpoint,
                frame.header.checksum == pointer.checksum, let manifest = Manifest(frame.payload)
            else { return false }
            _ = try CheckpointReader(file: file, counters: Counters()).load(pointer, size: size)
            for table in manifest.tables where !table.directory.isNone { try readPages(table.directory) }
            for index in manifest.indexes {
                for run in index.runs { try readBlocks(SortedRun(manifest: run, source: file)) }
            }
            return true
        } catch {
            guard error.code == .corrupt else { throw error }
            return false
        }
    }

    private mutating func readPages(_ directory: FramePointer) throws(StoreError) {
        let base = try PrimaryBase(directory: directory, source: file)
        for index in 0..<base.pageCount {
            let page = base.page(index)
            if !page.isNone { _ = try file.passedPayload(page, .primaryPage, &bytes) }
        }
    }

    private mutating func readBlocks(_ run: SortedRun) throws(StoreError) {
        let root = try run.blocks()
        for index in 0..<root.count { _ = try file.passedPayload(root.pointer(index), .indexBlock, &bytes) }
    }
}

/// A checkpoint's content: the state of every table and index as of one commit. Spec: FORMAT.md, "Checkpoints".
///
/// A class, like most types that opening uses: at a process's first use of an array or optional of a structure, the runtime makes a
/// type, which took half of the time to open a store.
final class Manifest {
    final class Table {
        let id: TableID
        let nextRow: UInt64
        let rowCount: UInt64
        let liveBytes: UInt64
        /// None if the table never had a row.
        let directory: FramePointer

        init(id: TableID, nextRow: UInt64, rowCount: UInt64, liveBytes: UInt64, directory: FramePointer) {
            self.id = id
            self.nextRow = nextRow
            self.rowCount = rowCount
            self.liveBytes = liveBytes
            self.directory = directory
        }
    }

    final class Index {
        let id: IndexID
        /// Roots of the runs, newest first.
        let runs: [Run]

        init(id: IndexID, runs: [Run]) {
            self.id = id
            self.runs = runs
        }
    }

    final class Run: Sendable {
        let root: FramePointer
        let entryCount: UInt64
        let byteCount: UInt64

        init(root: FramePointer, entryCount: UInt64, byteCount: UInt64) {
            self.root = root
            self.entryCount = entryCount
            self.byteCount = byteCount
        }
    }

    let sequence: UInt64
    /// The checksum of that commit's frame.
    let commitChecksum: UInt64
    /// The offset at which the log continues after that commit. Later commits may be between it and the manifest.
    let logEnd: UInt64
    let previousCheckpoint: FramePointer
    let tables: [Table]
    let indexes: [Index]

    private static let version: UInt8 = 1
    /// The most that all tables and runs together may claim to have, so that sums never overflow. It is far more than a file holds.
    private static let sumMax: UInt64 = 1 << 56
    /// The most runs of an index. A scan's cost is the product of entries and runs, so a hostile file does not get many.
    static let runsMax = 64

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(sequence)
        writer.append(commitChecksum)
        writer.append(logEnd)
        writer.append(previousCheckpoint)
        writer.append(UInt32(tables.count))
        for table in tables {
            writer.append(table.id.rawValue)
            writer.append(table.nextRow)
            writer.append(table.rowCount)
            writer.append(table.liveBytes)
            writer.append(table.directory)
        }
        writer.append(UInt32(indexes.count))
        for index in indexes {
            writer.append(index.id.rawValue)
            writer.append(UInt32(index.runs.count))
            for run in index.runs {
                writer.append(run.root)
                writer.append(run.entryCount)
                writer.append(run.byteCount)
            }
        }
        return writer.bytes
    }

    init(
        sequence: UInt64, commitChecksum: UInt64, logEnd: UInt64, previousCheckpoint: FramePointer, tables: [Table], indexes: [Index]
    ) {
        self.sequence = sequence
        self.commitChecksum = commitChecksum
        self.logEnd = logEnd
        self.previousCheckpoint = previousCheckpoint
        self.tables = tables
        self.indexes = indexes
    }

    /// - Returns: nil if the bytes are not a manifest.
    convenience init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == Self.version, let sequence = reader.integer(UInt64.self),
            let commitChecksum = reader.integer(UInt64.self), let logEnd = reader.integer(UInt64.self),
            let previous = reader.pointer(), let tableCount = reader.count(of: 42)
        else { return nil }
        var sum: UInt64 = 0
        func isPossible(_ values: UInt64...) -> Bool {
            for value in values {
                guard value <= Self.sumMax - sum else { return false }
                sum += value
            }
            return true
        }
        var tables: [Table] = []
        for _ in 0..<tableCount {
            guard let id = reader.integer(UInt16.self), let nextRow = reader.integer(UInt64.self),
                let rowCount = reader.integer(UInt64.self), let liveBytes = reader.integer(UInt64.self),
                let directory = reader.pointer(), nextRow <= RowReference.rowMask, rowCount <= nextRow, isPossible(rowCount, liveBytes)
            else { return nil }
            tables.append(Table(
                id: TableID(rawValue: id), nextRow: nextRow, rowCount: rowCount, liveBytes: liveBytes, directory: directory))
        }
        guard let indexCount = reader.count(of: 6) else { return nil }
        var indexes: [Index] = []
        for _ in 0..<indexCount {
            guard let id = reader.integer(UInt16.self), let runCount = reader.count(of: 32), runCount <= Self.runsMax
            else { return nil }
            var runs: [Run] = []
            for _ in 0..<runCount {
                guard let root = reader.pointer(), let entries = reader.integer(UInt64.self), let bytes = reader.integer(UInt64.self),
                    isPossible(entries, bytes)
                else { return nil }
                runs.append(Run(root: root, entryCount: entries, byteCount: bytes))
            }
            indexes.append(Index(id: IndexID(rawValue: id), runs: runs))
        }
        self.init(
            sequence: sequence, commitChecksum: commitChecksum, logEnd: logEnd, previousCheckpoint: previous, tables: tables, indexes: indexes)
    }
}

extension ByteWriter {
    mutating func append(_ pointer: FramePointer) {
        append(pointer.offset)
        append(pointer.checksum)
    }
}

extension ByteReader {
    mutating func pointer() -> FramePointer? {
        guard let offset = integer(UInt64.self), let checksum = integer(UInt64.self) else { return nil }
        return FramePointer(offset: offset, checksum: checksum)
    }
}

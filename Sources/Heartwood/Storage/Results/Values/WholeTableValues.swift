import Foundation
import RecordLog

/// The values of all rows of some tables, which several threads read straight into the memory of the result.
///
/// Each chunk of a scan writes where its rows are if the table has every row number that was given. So threads share nothing, and the rows move
/// together in the end only where numbers are missing.
package final class WholeTableValues {
    /// Rows that lie together in the memory.
    private struct Piece {
        let start: Int
        var count = 0
    }

    /// One thread's reader, and where it writes.
    private final class Writer: ValueSink {
        let reader: ValueBatchReader
        private let memory: UnsafeMutableRawPointer
        private let stride: Int
        private(set) var pieces: [Piece] = []
        private var chunk = -1

        init(_ reader: ValueBatchReader, _ memory: UnsafeMutableRawPointer, stride: Int) {
            (self.reader, self.memory, self.stride) = (reader, memory, stride)
        }

        /// - Parameter base: the place of the table's first row number, 1.
        func write(_ rows: UnsafeBufferPointer<UnsafeRowView>, ofChunk chunk: Int, at base: Int) throws {
            if chunk != self.chunk {
                self.chunk = chunk
                pieces.append(Piece(start: base + Int(rows[0].reference.row) - 1))
            }
            _ = try reader.read(rows, into: self)
        }

        func endTable() { chunk = -1 }

        func room(_ count: Int) -> UnsafeMutableRawPointer {
            guard let piece = pieces.last else { return memory }
            return memory + (piece.start + piece.count) * stride
        }

        func take(_ count: Int) -> Bool {
            pieces[pieces.count - 1].count += count
            return true
        }
    }

    private let table: ValueTable
    private let tables: [EntityTable]
    private let view: RecordLogView
    private let readers: [ValueBatchReader]
    /// The number of rows that the memory has to have room for, at most twice as many as there are, and some.
    package let capacity: Int
    package private(set) var statistics = QueryStatistics()

    private static let spare = 1024

    /// - Returns: nil where one reader has to see the rows in turn, since values are objects or computed, and where row numbers are sparse.
    init?(_ table: ValueTable, _ tables: [EntityTable], _ view: RecordLogView) {
        let snapshot = view.snapshot
        let limits = tables.map { max(1, snapshot.rowLimit($0.id)) - 1 }, rows = tables.reduce(0) { $0 + snapshot.rowCount($1.id) }
        guard limits.allSatisfy({ $0 <= UInt64(rows * 2 + Self.spare) }) else { return nil }
        capacity = limits.reduce(0) { $0 + Int($1) }
        guard capacity <= rows * 2 + Self.spare else { return nil }
        var readers: [ValueBatchReader] = []
        for _ in 0..<ParallelScan.threads(rows: rows) {
            guard let reader = ValueBatchReader(table, tables, view, slotBase: view.slotBase), reader.isPlain else { return nil }
            readers.append(reader)
        }
        (self.table, self.tables, self.view, self.readers) = (table, tables, view, readers)
    }

    /// Initializes rows in uninitialized memory for `capacity` rows. If it throws, no row is initialized.
    /// - Returns: the number of rows.
    package func read(into memory: UnsafeMutableRawPointer) throws -> Int {
        let writers = readers.map { Writer($0, memory, stride: table.stride) }
        do {
            let scope = QueryScope(view: view)
            var base = 0
            for table in tables {
                var unused = writers[...]
                let start = base, threads = min(writers.count, ParallelScan.threads(rows: view.snapshot.rowCount(table.id)))
                _ = try ParallelScan.run(table.id, nil, view, threads: threads, scope, state: { unused.popFirst() }) { writer, rows, _, chunk in
                    try writer?.write(UnsafeBufferPointer(rows), ofChunk: chunk, at: start)
                }
                for writer in writers { writer.endTable() }
                base += Int(max(1, view.snapshot.rowLimit(table.id))) - 1
                statistics.parts.append(
                    QueryStatistics.Part(entity: table.runtime.entity.name ?? "", access: .scan, rangeCount: 0, isOrdered: false))
            }
            statistics.take(scope)
        } catch {
            for piece in writers.flatMap(\.pieces) {
                table.deinitialize(memory + piece.start * table.stride, columns: table.columns.count, rows: piece.count)
            }
            throw error
        }
        statistics.rowsMatched = move(writers.flatMap(\.pieces), in: memory)
        return statistics.rowsMatched
    }

    /// Moves pieces together. The values of plain types may be moved as bytes.
    private func move(_ pieces: [Piece], in memory: UnsafeMutableRawPointer) -> Int {
        var count = 0
        for piece in pieces.sorted(by: { $0.start < $1.start }) {
            if piece.start > count { memmove(memory + count * table.stride, memory + piece.start * table.stride, piece.count * table.stride) }
            count += piece.count
        }
        return count
    }
}

extension RecordLogView {
    /// Returns a reader of all values at once. Returns nil if the query wants only some rows or an order, or if a value has to be read with its row.
    package func wholeTables(_ table: ValueTable, _ query: StoreQuery) throws -> WholeTableValues? {
        guard query.isForAll, QueryTuning.forcedAccess == nil || QueryTuning.forcedAccess == .scan else { return nil }
        return WholeTableValues(table, try query.runtimes.map { try schema.table(of: $0, slotBase: slotBase) }, self)
    }
}

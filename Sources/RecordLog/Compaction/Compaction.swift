/// How far a compaction is.
public struct CompactionProgress: Sendable {
    public var rowsDone: UInt64
    public var rowsTotal: UInt64
}

/// What a compaction did.
public struct CompactionReport: Sendable, Equatable {
    public var bytesBefore: UInt64
    public var bytesAfter: UInt64
    public var rows: UInt64
}

extension LogStore {
    /// Writes the live rows to a new file, in table and row order, with their indexes, and puts it in the old one's place.
    ///
    /// Snapshots taken before stay readable; other processes go over to the new file at their next write or refresh. A
    /// crash at any point leaves the old file or the new one, whole. Writers wait meanwhile.
    /// - Parameter progress: called every few thousand rows; false cancels, and the store stays as it was.
    /// - Throws: `noSpace` before anything is written, where the file system has less room than the new file may take;
    ///   `cancelled`; as `write` does.
    /// - Complexity: O(live data); memory for one index at a time where it is damaged and made anew.
    public func compact(progress: ((CompactionProgress) -> Bool)? = nil) throws(StoreError) -> CompactionReport {
        finishCheckpoint()
        return try exclusively { () throws(StoreError) in
            try beginWriting()
            // Whichever file is the store's at the end is the one that is locked.
            defer { writer.file.storage.unlock() }
            let base = snapshot()
            let bytesBefore = writer.end
            let live = base.tables.reduce(UInt64(0)) { $0 + ($1?.liveBytes ?? 0) }
            if let free = fileSystem.freeSpace(at: path), free < live + live / 4 + (1 << 20) {
                throw StoreError(
                    .noSpace, path: path, "compaction needs about \((live + live / 4) >> 20) MiB and \(free >> 20) MiB are free",
                    remedy: "Free some space; the store is as it was.")
            }
            let target = try fileSystem.resolved(path)
            let temporary = target + ".compacting"
            // What a crash left of an earlier one; the lock says that nobody is at it.
            try fileSystem.remove(temporary)
            let storage = try fileSystem.open(temporary, .create)
            do throws(StoreError) {
                try fileSystem.copyAttributes(of: target, to: temporary)
                // Locked before it has the store's name, so that nobody writes to it before it is complete.
                try storage.lock(timeout: options.lockTimeout)
                let opened = try CompactionWriter(store: self, base: base, path: path, storage: storage).run(progress: progress)
                try swap(opened, temporary: temporary, target: target)
                return CompactionReport(
                    bytesBefore: bytesBefore, bytesAfter: opened.end,
                    rows: base.tables.dropFirst().reduce(0) { $0 + ($1?.rowCount ?? 0) })
            } catch {
                storage.unlock()
                if writer.file.storage !== storage { try? fileSystem.remove(temporary) }
                throw error
            }
        }
    }

    /// Puts the new file in the old one's place. The new file is durable already, and says itself that its name may not be.
    private func swap(_ opened: OpenedFile, temporary: String, target: String) throws(StoreError) {
        try fileSystem.rename(temporary, to: target)
        // (9) Nothing is acknowledged to the new file before its name is durable: neither here nor by a process that finds
        // it, which syncs the directory first as long as the slot is unsettled.
        if options.durability != .none {
            do throws(StoreError) {
                try fileSystem.syncDirectory(of: target)
            } catch {
                writer.poison = error
                throw error
            }
        }
        let old = writer.file
        var superseded = writer.slot
        superseded.isSuperseded = true
        superseded.generation += 1
        // Best effort: others find the new file by its path in any case.
        try? FileCreation.write(superseded, to: old.storage, fileID: old.identity.fileID)
        old.storage.unlock()
        writer.take(opened)
        publish(opened.snapshot)
        guard options.durability != .none else { return }
        var settled = opened.slot
        settled.isUnsettled = false
        try writeSlot(settled)
    }
}

/// Fills the file of a compaction.
struct CompactionWriter {
    let store: LogStore
    let base: Snapshot
    let path: String
    let storage: any StorageFile

    private static let progressEvery: UInt64 = 4096

    func run(progress: ((CompactionProgress) -> Bool)?) throws(StoreError) -> OpenedFile {
        let creation = FileCreation(path: path, options: store.options, fileSystem: store.fileSystem, counters: store.counters)
        let empty = try creation.initialize(
            storage, storeID: base.file.identity.storeID, segmentShift: base.file.identity.segmentShift, at: path)
        let file = empty.snapshot.file
        let appender = FrameAppender(file: file, at: FileFormat.dataStart, sequence: base.sequence, counters: store.counters)
        let rows = try copyRows(to: appender, progress)
        guard base.sequence > 0 else { return empty }
        let frame = try appender.appendFooter(
            CommitFooter(
                sequence: base.sequence, previousChecksum: 0, timestamp: store.fileSystem.now(),
                durableSequence: 0, rowCount: rows.count, authorLength: 0),
            author: [])
        try appender.flush()
        let copied = Snapshot(
            sequence: base.sequence, catalog: base.catalog, file: file, end: appender.position, commitChecksum: frame.checksum,
            tables: rows.tables, indexes: [], counters: store.counters)
        let indexed = try copyIndexes(copied, to: appender)
        let made = try CheckpointBuilder(base: indexed, sink: appender).build(previous: .none)
        if store.options.durability != .none { try storage.sync() }
        var slot = HeaderSlot()
        slot.generation = empty.slot.generation + 1
        slot.sequence = base.sequence
        slot.end = appender.position
        slot.durableSequence = base.sequence
        slot.durableEnd = slot.end
        slot.checkpoint = made.manifest
        slot.commitChecksum = frame.checksum
        slot.isUnsettled = true
        try FileCreation.write(slot, to: storage, fileID: file.identity.fileID)
        if store.options.durability != .none { try storage.sync() }
        return OpenedFile(
            snapshot: made.over(indexed, isWhole: true), slot: slot, end: slot.end, bytesBehind: 0, zeroedEnd: slot.end)
    }

    /// Copies every live row, the catalog first.
    private func copyRows(
        to appender: FrameAppender, _ progress: ((CompactionProgress) -> Bool)?
    ) throws(StoreError) -> (tables: [TableState?], count: UInt32) {
        let total = base.tables.reduce(UInt64(0)) { $0 + ($1?.rowCount ?? 0) }
        var done: UInt64 = 0
        var tables: [TableState?] = []
        for (index, state) in base.tables.enumerated() {
            tables.append(nil)
            guard let state else { continue }
            let isSystem = index == 0
            let delta = PrimaryDelta()
            let table = base.catalog.table(TableID(rawValue: UInt16(index)))
            var values = ValueCopy(from: base.file)
            var bytes: UInt64 = 0
            try base.scanRows(TableID(rawValue: UInt16(index))) { row throws(StoreError) in
                guard !isSystem || row.reference.row != RowNumbers.row else { return true }
                delta.store(row.reference.row, try Self.copy(row, of: table, &values, to: appender))
                bytes += base.catalog.liveBytes(of: row)
                done += 1
                if done % Self.progressEvery == 0 { try report(done, of: total, progress) }
                return true
            }
            var rowCount = state.rowCount
            if isSystem {
                let numbers = try appendRowNumbers(to: appender)
                delta.store(RowNumbers.row, numbers.address)
                bytes += numbers.size
                done += 1
                if try !base.contains(RowReference(table: .system, row: RowNumbers.row)) { rowCount += 1 }
                // A frame of their own: damage to rows does not take the catalog with it.
                try appender.closeRows()
            }
            tables[index] = TableState(
                primary: PrimaryIndex(base: nil, delta: delta), nextRow: state.nextRow, rowCount: rowCount, liveBytes: bytes)
        }
        if try repeatCatalog(tables.first ?? nil, to: appender) { done += 1 }
        guard done <= UInt64(UInt32.max) else {
            throw StoreError(.tooLarge, path: path, "\(done) rows are more than one commit holds", remedy: "Split the data over several stores.")
        }
        try report(total, of: total, progress)
        return (tables, UInt32(done))
    }

    /// Copies a row, and the values that it has in frames of their own.
    /// - Returns: its address.
    @inline(__always)
    private static func copy(
        _ row: RowView, of table: TableDefinition?, _ values: inout ValueCopy, to appender: FrameAppender
    ) throws(StoreError) -> UInt64 {
        guard let table, table.hasValues, let layout = table.layout(row.layoutID) else {
            return try appender.appendRow(
                .put, row.reference, body: UnsafeRawBufferPointer(start: row.body, count: row.byteCount), version: row.version, previous: 0)
        }
        return try values.copy(row, layout, to: appender).withUnsafeBufferPointer { body throws(StoreError) in
            try appender.appendRow(.put, row.reference, body: UnsafeRawBufferPointer(body), version: row.version, previous: 0)
        }
    }

    private func report(_ done: UInt64, of total: UInt64, _ progress: ((CompactionProgress) -> Bool)?) throws(StoreError) {
        guard let progress, !progress(CompactionProgress(rowsDone: done, rowsTotal: total)) else { return }
        throw StoreError(.cancelled, path: path, "the compaction was cancelled", remedy: "The store is as it was.")
    }

    /// Writes the catalog again behind the rows: without it no row can be read, and the file has no older one.
    private func repeatCatalog(_ system: TableState?, to appender: FrameAppender) throws(StoreError) -> Bool {
        let reference = RowReference(table: .system, row: Catalog.row)
        guard let delta = system?.primary.delta, let row = try base.row(reference) else { return false }
        let address = try appender.appendRow(
            .put, reference, body: UnsafeRawBufferPointer(start: row.body, count: row.byteCount), version: row.version &+ 1,
            previous: delta.load(Catalog.row))
        delta.store(Catalog.row, address)
        return true
    }

    private func appendRowNumbers(to appender: FrameAppender) throws(StoreError) -> (address: UInt64, size: UInt64) {
        let numbers = RowNumbers(next: base.tables.enumerated().dropFirst().compactMap { index, state in
            state.map { (TableID(rawValue: UInt16(index)), $0.nextRow) }
        }).encoded()
        let address = try numbers.withUnsafeBufferPointer { bytes throws(StoreError) in
            try appender.appendRow(
                .put, RowReference(table: .system, row: RowNumbers.row), body: UnsafeRawBufferPointer(bytes), version: 1, previous: 0)
        }
        return (address, UInt64(RowRecord.size(ofBody: numbers.count)))
    }

    /// Copies each index as one run: its entries name rows, not places, so they stay as they are. One that is damaged is
    /// made anew from the rows.
    private func copyIndexes(_ copied: Snapshot, to appender: FrameAppender) throws(StoreError) -> Snapshot {
        var indexes: [IndexRuns?] = []
        for (slot, runs) in base.indexes.enumerated() {
            guard let runs else {
                indexes.append(nil)
                continue
            }
            do throws(StoreError) {
                indexes.append(try Self.write(runs, to: appender, copied.file))
            } catch {
                guard error.code == .corrupt, let definition = base.catalog.index(IndexID(rawValue: UInt16(slot))) else { throw error }
                let replay = Replay(file: copied.file, from: copied, at: copied.end, options: store.options)
                let anew = try replay.build(definition, from: copied) ?? IndexRuns()
                indexes.append(try Self.write(anew, to: appender, copied.file))
            }
        }
        try appender.flush()
        return Snapshot(
            sequence: copied.sequence, catalog: copied.catalog, file: copied.file, end: copied.end,
            commitChecksum: copied.commitChecksum, tables: copied.tables, indexes: indexes, counters: copied.counters)
    }

    private static func write(_ runs: IndexRuns, to appender: FrameAppender, _ file: LogFile) throws(StoreError) -> IndexRuns {
        let merged = MergeCursor(cursors: try runs.cursors(.all, isDescending: false), isDescending: false, keepsTombstones: false)
        return IndexRuns(memory: [], disk: try IndexRuns.write(merged, to: appender, source: file).map { [$0] } ?? [])
    }
}

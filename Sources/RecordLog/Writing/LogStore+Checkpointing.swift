/// The way of a checkpoint into the file: pages, runs and the manifest that names them, a sync, the slot that names the
/// manifest.
///
/// A crash before the slot leaves frames behind the last commit that nothing refers to: they are cut off as a torn tail,
/// or passed over where a commit follows them. The log is the truth, so nothing is lost (6).
extension LogStore {
    func writeCheckpoint() throws(StoreError) {
        let base = snapshot()
        guard writer.end > writer.checkpointEnd || writer.slot.checkpoint.isNone else { return }
        do throws(StoreError) {
            try writeCheckpoint(of: base)
        } catch {
            // What is damaged is an older index; the log has what it takes to make it anew.
            guard error.code == .corrupt, writer.poison == nil else { throw error }
            try writeCheckpoint(of: try rebuilt(base))
        }
    }

    func writeCheckpoint(of base: Snapshot) throws(StoreError) {
        let appender = FrameAppender(file: base.file, at: writer.end, sequence: base.sequence, counters: counters)
        let made: CheckpointBuilder.Made
        do throws(StoreError) {
            made = try CheckpointBuilder(base: base, sink: appender).build(previous: writer.slot.checkpoint)
            try write(appender)
        } catch {
            abandon(appender)
            throw error
        }
        // (6) A run is referred to only once it is synced.
        if options.durability != .none { try syncFile() }
        var slot = writer.slot
        slot.checkpoint = made.manifest
        slot.sequence = base.sequence
        slot.commitChecksum = base.commitChecksum
        slot.end = appender.position
        if options.durability != .none {
            slot.durableSequence = slot.sequence
            slot.durableEnd = slot.end
        }
        try writeSlot(slot)
        writer.end = slot.end
        writer.checkpointEnd = slot.end
        counters.checkpointed()
        publish(made.snapshot(end: slot.end))
    }

    /// The same commit over indexes made from the log alone.
    func rebuilt(_ base: Snapshot) throws(StoreError) -> Snapshot {
        let replay = Replay(file: base.file, from: Snapshot.empty(base.file, counters), at: FileFormat.dataStart, options: options)
        try replay.run(limit: writer.end, publishedEnd: writer.end, wholeEnd: writer.end)
        let snapshot = try replay.finish(counters: counters)
        guard snapshot.sequence == base.sequence, snapshot.commitChecksum == base.commitChecksum else {
            throw StoreError.corrupt(path, at: replay.end, "the log ends before its newest commit")
        }
        return snapshot
    }
}

/// Writes every index of a snapshot, and the manifest that lists them.
struct CheckpointBuilder {
    let base: Snapshot
    let sink: FrameAppender

    struct Made {
        let base: Snapshot
        let manifest: FramePointer
        let tables: [TableState?]
        let indexes: [IndexRuns?]

        /// The same commit over the new indexes.
        func snapshot(end: UInt64) -> Snapshot {
            Snapshot(
                sequence: base.sequence, catalog: base.catalog, file: base.file, end: end, commitChecksum: base.commitChecksum,
                tables: tables, indexes: indexes, counters: base.counters)
        }
    }

    func build(previous: FramePointer) throws(StoreError) -> Made {
        var tables = base.tables
        var manifestTables: [Manifest.Table] = []
        var directories: [Int: FramePointer] = [:]
        for (index, state) in base.tables.enumerated() {
            guard let state else { continue }
            let directory = try writeDirectory(state, table: TableID(rawValue: UInt16(index)))
            directories[index] = directory
            manifestTables.append(Manifest.Table(
                id: TableID(rawValue: UInt16(index)), nextRow: state.nextRow, rowCount: state.rowCount, liveBytes: state.liveBytes,
                directory: directory))
        }
        var indexes = base.indexes
        var manifestIndexes: [Manifest.Index] = []
        for (slot, runs) in base.indexes.enumerated() {
            guard let runs else { continue }
            let flushed = try runs.flushed(to: sink, source: base.file)
            indexes[slot] = flushed
            manifestIndexes.append(Manifest.Index(id: IndexID(rawValue: UInt16(slot)), runs: flushed.disk.map(\.manifest)))
        }
        // Everything that the manifest names is in the file before the manifest is.
        try sink.flush()
        let manifest = Manifest(
            sequence: base.sequence, commitChecksum: base.commitChecksum, previousCheckpoint: previous, tables: manifestTables,
            indexes: manifestIndexes)
        let bytes = manifest.encoded()
        let result: Result<FramePointer, StoreError> = bytes.withUnsafeBytes { bytes in
            do throws(StoreError) { return .success(try sink.append(kind: .checkpoint, payload: bytes)) } catch { return .failure(error) }
        }
        let pointer = try result.get()
        try sink.flush()
        for (index, directory) in directories {
            tables[index]?.primary = PrimaryIndex(
                base: directory.isNone ? nil : try PrimaryBase(directory: directory, source: base.file), delta: PrimaryDelta())
        }
        return Made(base: base, manifest: pointer, tables: tables, indexes: indexes)
    }

    /// Pages that nothing changed are named again, not written again.
    private func writeDirectory(_ state: TableState, table: TableID) throws(StoreError) -> FramePointer {
        let perPage = PrimaryBase.rowsPerPage
        let pageCount = Int((state.nextRow + perPage - 1) / perPage)
        guard pageCount > 0 else { return .none }
        return try PrimaryBase.write(pageCount: pageCount, to: sink) { page throws(StoreError) in
            let first = UInt64(page) * perPage
            guard state.primary.delta.hasRows(in: first..<first + perPage) else { return .kept(try state.primary.base?.page(page) ?? .none) }
            let count = min(perPage, state.nextRow - first)
            var addresses = [UInt64](repeating: 0, count: Int(count))
            let old = try state.primary.base?.addresses(ofPage: page) ?? UnsafeRawBufferPointer(start: nil, count: 0)
            for place in 0..<count {
                let known = state.primary.delta.load(first + place)
                if known == 0 {
                    addresses[Int(place)] = PrimaryBase.address(in: old, place)
                } else if known & PrimaryDelta.tombstoneBit == 0 {
                    addresses[Int(place)] = known
                }
            }
            while addresses.last == 0 { addresses.removeLast() }
            return .new(addresses)
        }
    }
}

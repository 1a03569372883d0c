/// Writes a checkpoint: pages and runs, then the manifest that names them, a sync, and the superblock that names the manifest.
///
/// A crash before the superblock leaves frames that nothing refers to, behind the last commit or between commits. They are cut off as a torn
/// tail, or passed over. The log is the truth, so nothing is lost (6).
extension LockedStore {
    /// Writes the whole checkpoint at once, under the store's locks.
    func writeCheckpoint(_ merging: RunSet.Merging = .whileWriting) throws(StoreError) {
        let base = snapshot()
        guard writer.bytesBehind > 0 || writer.superblock.checkpoint.isNone || base.needsFlush(merging) else { return }
        do throws(StoreError) {
            try writeCheckpoint(of: base, merging)
        } catch {
            // A read failed, so an older index is damaged or unreadable, or the entries spilled from one. The log suffices to rebuild it. A
            // failed write has poisoned the handle.
            guard error.isOfReading, writer.poison == nil else { throw error }
            try writeCheckpoint(of: try rebuilt(base), merging)
        }
    }

    func writeCheckpoint(of base: Snapshot, _ merging: RunSet.Merging) throws(StoreError) {
        let end = writer.end
        let sink = CheckpointSink(exclusively: self, base: base, logEnd: end)
        let made: CheckpointBuilder.Made
        do throws(StoreError) {
            made = try CheckpointBuilder(base: base, sink: sink, options: options, merging: merging).build(previous: writer.superblock.checkpoint)
            // (6) A run is referred to only once it is synced.
            if options.durability != .none { try syncFile() }
            var superblock = writer.superblock(upTo: writer.end)
            superblock.checkpoint = made.manifest
            superblock.sequence = base.sequence
            superblock.commitChecksum = base.commitChecksum
            if options.durability != .none {
                superblock.durableSequence = superblock.sequence
                superblock.durableEnd = superblock.end
            }
            try writeSuperblock(superblock)
        } catch {
            takeBack(to: end)
            throw error
        }
        writer.bytesBehind = 0
        writer.bytesUnspilled = 0
        writer.bytesBehindAtFailure = 0
        writer.load.hasFailed = false
        counters.checkpointed()
        publish(made.over(base, isWhole: true))
    }

    /// The same commit over indexes that are rebuilt from the log.
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
    let sink: any CheckpointFrameSink
    let options: StoreOptions
    var merging = RunSet.Merging.whileWriting

    struct Made {
        let manifest: FramePointer
        /// By table ID.
        let bases: [PrimaryBase?]
        /// By index ID; nil for an index that does not exist or could not be listed.
        let disks: [[SortedRun]?]

        /// A snapshot over the new indexes.
        /// - Parameter isWhole: whether it is the snapshot that they were made of. Otherwise it is a later one, which keeps what it has above
        ///   the part that was flushed.
        func over(_ snapshot: Snapshot, isWhole: Bool) -> Snapshot {
            var tables = snapshot.tables
            for (index, base) in bases.enumerated() where index < tables.count {
                guard let base, let state = tables[index] else { continue }
                tables[index] = state.with(PrimaryIndex(base: base, delta: isWhole ? PrimaryDelta() : state.primary.delta))
            }
            var indexes = snapshot.indexes
            for (number, disk) in disks.enumerated() where number < indexes.count {
                guard let runs = indexes[number] else { continue }
                if let disk {
                    indexes[number] = RunSet(fresh: isWhole ? [] : runs.fresh, disk: disk)
                } else {
                    // The next checkpoint tries again.
                    indexes[number] = RunSet(fresh: runs.fresh + runs.flushing, disk: runs.disk)
                }
            }
            return Snapshot(
                sequence: snapshot.sequence, catalog: snapshot.catalog, file: snapshot.file, end: snapshot.end,
                commitChecksum: snapshot.commitChecksum, tables: tables, indexes: indexes, counters: snapshot.counters)
        }
    }

    func build(previous: FramePointer) throws(StoreError) -> Made {
        let merges = base.indexes.enumerated().map { number, runs in runs?.flush(merging, isPacked: base.catalog.hasTerms(number)) }
        let indexes = ParallelIndexFlush(merges, of: base.file, options)
        defer { indexes.stop() }
        var pages: [PrimaryBase.WrittenPages?] = []
        for state in base.tables { pages.append(try state.flatMap { state throws(StoreError) in try writePages(state) }) }
        var flushed = try indexes.write(to: sink)
        // Frames that name other frames come after them, all at once: each assignment of offsets may have to wait for commits.
        try sink.assignOffsets()
        var directories: [FrameTicket?] = []
        for index in pages.indices { directories.append(try pages[index]?.appendDirectory(to: sink)) }
        for index in flushed.indices { try flushed[index]?.appendRoot(to: sink) }
        // The frames that the manifest names are in the file before the manifest is.
        try sink.flush()
        var bases: [PrimaryBase?] = []
        var manifestTables: [Manifest.Table] = []
        for (index, state) in base.tables.enumerated() {
            let directory = directories[index].map(sink.pointer) ?? .none
            bases.append(directory.isNone ? nil : try PrimaryBase(directory: directory, source: base.file))
            guard let state else { continue }
            manifestTables.append(Manifest.Table(
                id: TableID(rawValue: UInt16(index)), nextRow: state.nextRow, rowCount: state.rowCount, liveBytes: state.liveBytes,
                directory: directory))
        }
        var disks: [[SortedRun]?] = []
        var manifestIndexes: [Manifest.Index] = []
        for (number, runs) in base.indexes.enumerated() {
            // An index that cannot be listed stays as it is. The next opening rebuilds it from the rows.
            disks.append(flushed[number].map { $0.runs(in: sink, source: base.file) } ?? runs?.disk)
            guard let disk = disks[number] else { continue }
            manifestIndexes.append(Manifest.Index(id: IndexID(rawValue: UInt16(number)), runs: disk.map(\.manifest)))
        }
        let manifest = Manifest(
            sequence: base.sequence, commitChecksum: base.commitChecksum, logEnd: sink.logEnd, previousCheckpoint: previous,
            tables: manifestTables, indexes: manifestIndexes)
        let ticket = try sink.append(.checkpoint, manifest.encoded())
        try sink.flush()
        return Made(manifest: sink.pointer(ticket), bases: bases, disks: disks)
    }

    /// Writes the changed pages of a primary index. Unchanged pages are named again, not written again.
    /// - Returns: nil if the table has no pages.
    private func writePages(_ state: TableState) throws(StoreError) -> PrimaryBase.WrittenPages? {
        let perPage = PrimaryBase.rowsPerPage
        let pageCount = Int((state.nextRow + perPage - 1) / perPage)
        guard pageCount > 0 else { return nil }
        return try PrimaryBase.pages(count: pageCount, to: sink) { page throws(StoreError) in
            let first = UInt64(page) * perPage
            guard state.primary.isChanged(first..<first + perPage) else { return .kept(state.primary.base?.page(page) ?? .none) }
            let count = min(perPage, state.nextRow - first)
            var addresses = [UInt64](repeating: 0, count: Int(count))
            let old = try state.primary.base?.addresses(ofPage: page) ?? .empty
            for index in 0..<count {
                let known = state.primary.known(first + index)
                if known == 0 {
                    addresses[Int(index)] = old.address(Int(index))
                } else if known & PrimaryDelta.tombstoneBit == 0 {
                    addresses[Int(index)] = known
                }
            }
            return .new(addresses)
        }
    }
}

/// How a closing checkpoint merges runs.
extension LockedStore {
    /// The part of the bytes that the newest commit needs that may be dead after a closing checkpoint's merges.
    private static let deadPart: UInt64 = 8

    /// Merges of large runs leave dead bytes, which would make the file of a load larger than a few runs more are worth. The runs of a small
    /// store are merged in any case.
    var closingMerging: RunSet.Merging {
        let newest = snapshot()
        let onDisk = newest.indexes.reduce(0) { $0 + ($1?.diskByteCount ?? 0) }
        guard onDisk > 0 else { return .whenClosing }
        let used = newest.usedBytes, dead = writer.end - min(writer.end, used)
        let room = max(used / Self.deadPart - min(dead, used / Self.deadPart), options.checkpointAfterBytes / 4)
        return .whenClosing.rewriting(atMost: Double(room) / Double(onDisk))
    }
}

extension Snapshot {
    /// Whether a checkpoint would change an index on disk.
    func needsFlush(_ merging: RunSet.Merging) -> Bool { indexes.contains { $0?.needsFlush(merging) ?? false } }
}

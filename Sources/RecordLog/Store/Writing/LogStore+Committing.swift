/// The way of a commit into the file.
///
/// Crash points, in order: before or within the append (the tail is torn and cut off), after it and before the sync (the
/// commit may or may not be there, and was not acknowledged), after the sync (it is there, and recovery follows the chain
/// to it although no superblock names it), after the superblock (it is there).
extension LogStore {
    func commit(_ transaction: Transaction, author: String?) throws(StoreError) {
        let frame = try layDown(transaction, author: author)
        // (4) Acknowledged only once it is on the disk.
        if options.durability == .full, needsNoOtherSync(transaction.appender) {
            try writeDurably(transaction.appender)
        } else {
            try append(transaction.appender)
            if options.durability == .full { try syncFile() }
        }
        // (5) Published after that.
        try publish(transaction, frame)
    }

    /// Whether a commit is durable with its own bytes: everything before it is so, and it makes the file no longer.
    ///
    /// The superblock that names the commit before then reaches the disk when the system likes, and at the latest with the sync of the next zeroes
    /// that are written ahead: it may be a MiB of commits old after a crash, which the recovery follows.
    private func needsNoOtherSync(_ appender: FrameAppender) -> Bool {
        writer.syncedEnd == writer.end && appender.base == writer.end && appender.position <= writer.zeroedEnd
    }

    func footer(of transaction: Transaction, authorLength: Int) -> CommitFooter {
        CommitFooter(
            sequence: transaction.base.sequence + 1, previousChecksum: transaction.base.commitChecksum, timestamp: fileSystem.now(),
            durableSequence: writer.superblock.durableSequence, rowCount: transaction.rowCount, authorLength: UInt16(authorLength))
    }

    /// Ends a commit's frames.
    private func layDown(_ transaction: Transaction, author: String?) throws(StoreError) -> FramePointer {
        let name = Array((author ?? "").utf8)
        return try transaction.appender.appendFooter(footer(of: transaction, authorLength: name.count), author: name)
    }

    private func append(_ appender: FrameAppender) throws(StoreError) {
        try zeroAhead(of: appender)
        try write(appender)
    }

    /// Writes a whole commit behind the log.
    func append(_ transaction: Transaction, author: String?) throws(StoreError) -> FramePointer {
        let frame = try layDown(transaction, author: author)
        try append(transaction.appender)
        return frame
    }

    /// Makes a commit the newest one, to this handle and to others: it is in the file, and on the disk by the durability.
    func publish(_ transaction: Transaction, _ frame: FramePointer) throws(StoreError) {
        var superblock = writer.superblock
        superblock.sequence = transaction.base.sequence + 1
        superblock.end = transaction.appender.position
        superblock.commitChecksum = frame.checksum
        superblock.isUnresolved = false
        if options.durability == .full {
            superblock.durableSequence = superblock.sequence
            superblock.durableEnd = superblock.end
        }
        try announce(superblock)
        writer.bytesBehind += superblock.end - writer.end
        writer.end = superblock.end
        if options.durability == .full { writer.syncedEnd = superblock.end }
        publish(Self.apply(transaction, commitChecksum: frame.checksum, end: superblock.end, counters: counters))
    }

    /// Appends what an appender has gathered.
    func write(_ appender: FrameAppender) throws(StoreError) {
        let end = appender.position
        do throws(StoreError) {
            try appender.flush()
        } catch {
            try failed(error, canGoOn: error.code == .noSpace)
        }
        writer.zeroedEnd = max(writer.zeroedEnd, end)
    }

    /// Writes zeroes behind a small commit where the file's end is near, so that the next ones change no length.
    private func zeroAhead(of appender: FrameAppender) throws(StoreError) {
        let commitEnd = appender.position, end = min(commitEnd + UInt64(options.zeroAheadBytes), writer.file.sizeMax)
        guard commitEnd > writer.zeroedEnd, appender.count < options.zeroAheadBytes / 4 else { return }
        // Not from the log's end: what the appender has flushed already lies behind it.
        let start = max(writer.zeroedEnd, appender.base)
        do throws(StoreError) {
            try writeZeroes(start..<end)
        } catch {
            // They only make appending faster. The commit may still fit where they do not.
            guard error.code != .noSpace else { return }
            try failed(error, canGoOn: false)
        }
        writer.zeroedEnd = end
        // Not where each commit is waited for: the system finds out which pages to write from the calls at less cost.
        guard options.durability != .full, options.usesMemoryMapping else { return }
        writer.file.storage.expectOverwriting(0..<FileFormat.dataStart)
        writer.file.storage.expectOverwriting(start..<end)
    }

    /// The system keeps what one call has written as one piece of memory, and a sync looks through all of it for the one page that a
    /// commit has changed.
    private static let zeroedAtOnce: UInt64 = 16 << 10

    private func writeZeroes(_ range: Range<UInt64>) throws(StoreError) {
        let zeroes = [UInt8](repeating: 0, count: Int(Self.zeroedAtOnce))
        var at = range.lowerBound
        while at < range.upperBound {
            let next = min(range.upperBound, (at / Self.zeroedAtOnce + 1) * Self.zeroedAtOnce)
            try FileCreation.write(zeroes[..<Int(next - at)], to: writer.file.storage, at: at)
            at = next
        }
    }

    private func writeDurably(_ appender: FrameAppender) throws(StoreError) {
        do throws(StoreError) {
            try appender.flushDurably()
            counters.synced()
        } catch {
            try failed(error, canGoOn: error.code == .noSpace)
        }
    }

    func syncFile() throws(StoreError) {
        do throws(StoreError) {
            try writer.file.storage.sync()
            counters.synced()
        } catch {
            // Never again on this handle: after a failed sync the system may call pages clean that are not on the disk.
            try failed(error.asUncertain, canGoOn: false)
        }
    }

    /// Writes the superblock that is not the newest.
    /// - Throws: `noSpace` where the file system copies what is overwritten and has no room for that: the newest superblock is what it was, and
    ///   the handle can go on. Any other error poisons it.
    func writeSuperblock(_ new: Superblock) throws(StoreError) {
        var superblock = new
        superblock.generation = writer.superblock.generation + 1
        do throws(StoreError) {
            let bytes = superblock.encoded(fileID: writer.file.identity.fileID)
            try FileCreation.write(bytes[...], to: writer.file.storage, at: superblock.offset)
            writer.mark?.wrote(bytes, generation: superblock.generation)
        } catch {
            try failed(error, canGoOn: error.code == .noSpace)
        }
        writer.superblock = superblock
        writer.isSuperblockPending = false
    }

    /// The same of what the log says too: where there is no room for the superblock it goes out with the next one. Until then it is as after a crash
    /// here: whoever opens the file or takes its lock finds the commit in the log, and handles that read see it later.
    func announce(_ new: Superblock) throws(StoreError) {
        do throws(StoreError) {
            try writeSuperblock(new)
        } catch {
            guard error.code == .noSpace else { throw error }
            let generation = writer.superblock.generation
            writer.superblock = new
            writer.superblock.generation = generation
            writer.isSuperblockPending = true
        }
    }

    /// Writes a superblock that waits for room, if there is one and some.
    func announceWaiting() {
        if writer.isSuperblockPending { try? writeSuperblock(writer.superblock) }
    }

    func failed(_ error: StoreError, canGoOn: Bool) throws(StoreError) {
        if !canGoOn { writer.poison = error }
        throw error
    }

    /// The snapshot after a transaction, of which nothing is asked any more.
    static func apply(_ transaction: Transaction, commitChecksum: UInt64, end: UInt64, counters: Counters) -> Snapshot {
        let base = transaction.base
        var tables = base.tables
        for number in 0..<transaction.tables.count {
            guard let changes = transaction.tables[number], changes.id == .system || transaction.catalog.table(changes.id) != nil else { continue }
            let index = Int(changes.id.rawValue)
            while tables.count <= index { tables.append(nil) }
            let old = tables[index] ?? TableState()
            changes.addresses.move(to: old.primary.delta)
            tables[index] = TableState(
                primary: old.primary, nextRow: max(old.nextRow, changes.id == .system ? Transaction.systemRowsMax : changes.nextRow),
                rowCount: UInt64(max(0, Int64(old.rowCount) + changes.rowDelta)),
                liveBytes: UInt64(max(0, Int64(old.liveBytes) + changes.byteDelta)))
        }
        var indexes = base.indexes
        if transaction.isCatalogChanged {
            for definition in transaction.catalog.indexes {
                let number = Int(definition.id.rawValue)
                while indexes.count <= number { indexes.append(nil) }
                if indexes[number] == nil { indexes[number] = .empty }
            }
        }
        transaction.entries.add(to: &indexes)
        if transaction.isCatalogChanged { transaction.catalog.removeDropped(&tables, &indexes) }
        return Snapshot(
            sequence: base.sequence + 1, catalog: transaction.catalog, file: base.file, end: end, commitChecksum: commitChecksum,
            tables: tables, indexes: indexes, counters: counters)
    }
}

/// Writes a commit to the file.
///
/// Crash points, in order: before or within the append (the tail is torn and cut off); between the append and the sync (the commit may or may
/// not be there, and was not acknowledged); after the sync (the commit is there, and recovery follows the chain to it although no superblock
/// names it); after the superblock (the commit is there).
extension LockedStore {
    func commit(_ transaction: Transaction, author: String?) throws(StoreError) {
        let frame = try layDown(transaction, author: author)
        // (4) Acknowledged only once it is on the disk.
        if options.durability == .full, needsNoOtherSync(transaction.appender) {
            try writeDurably(transaction.appender)
        } else {
            try append(transaction.appender)
            if options.durability == .full { try syncFile() }
        }
        // (5) Published only then.
        try publish(transaction, frame)
    }

    /// Whether a commit becomes durable with its own bytes: everything before it is durable, and it does not lengthen the file.
    ///
    /// The previous commit's superblock then reaches the disk when the system likes, at the latest with the sync of the next zeroes written
    /// ahead. After a crash it may be a MiB of commits old; recovery follows the log past it.
    private func needsNoOtherSync(_ appender: FrameAppender) -> Bool {
        writer.syncedEnd == writer.end && appender.base == writer.end && appender.position <= writer.zeroedEnd
    }

    func footer(of transaction: Transaction, authorLength: Int) -> CommitFooter {
        CommitFooter(
            sequence: transaction.base.sequence + 1, previousChecksum: transaction.base.commitChecksum, timestamp: fileSystem.now(),
            durableSequence: writer.superblock.durableSequence, rowCount: transaction.rowCount, authorLength: UInt16(authorLength))
    }

    /// Appends the footer that ends a commit's frames.
    private func layDown(_ transaction: Transaction, author: String?) throws(StoreError) -> FramePointer {
        let name = Array((author ?? "").utf8)
        return try transaction.appender.appendFooter(footer(of: transaction, authorLength: name.count), author: name)
    }

    private func append(_ appender: FrameAppender) throws(StoreError) {
        try zeroAhead(of: appender)
        try write(appender)
    }

    /// Writes a whole commit at the log's end.
    func append(_ transaction: Transaction, author: String?) throws(StoreError) -> FramePointer {
        let frame = try layDown(transaction, author: author)
        try append(transaction.appender)
        return frame
    }

    /// Makes a commit the newest one for this handle and for others. It is in the file already, and on the disk if the durability asks for
    /// that.
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
        let newest = takeUp(transaction, frame)
        if options.durability == .full { writer.syncedEnd = superblock.end }
        publish(newest)
    }

    /// Appends a commit whose sync other threads may share. See `LockedStore+SharingSyncs.swift`.
    func commitAhead(_ transaction: Transaction, author: String?) throws(StoreError) {
        let frame = try append(transaction, author: author)
        append(ahead: takeUp(transaction, frame))
    }

    /// Makes a commit the end of the log that this handle knows.
    private func takeUp(_ transaction: Transaction, _ frame: FramePointer) -> Snapshot {
        let end = transaction.appender.position
        note(commit: end - writer.end)
        writer.end = end
        let newest = Self.apply(transaction, commitChecksum: frame.checksum, end: end, counters: counters)
        if transaction.isCatalogChanged { note(built: newest.builtBytes(over: transaction.base)) }
        return newest
    }

    /// Writes the frames that an appender has gathered.
    func write(_ appender: FrameAppender) throws(StoreError) {
        let end = appender.position
        do throws(StoreError) {
            try appender.flush()
        } catch {
            try failed(error, canGoOn: error.code == .noSpace)
        }
        writer.zeroedEnd = max(writer.zeroedEnd, end)
    }

    /// Writes zeroes behind a small commit near the file's end, so that the next commits do not change the file's length.
    private func zeroAhead(of appender: FrameAppender) throws(StoreError) {
        let commitEnd = appender.position, end = min(commitEnd + UInt64(options.zeroAheadBytes), writer.file.sizeMax)
        guard commitEnd > writer.zeroedEnd, appender.count < options.zeroAheadBytes / 4 else { return }
        // The appender may have flushed bytes behind the log's end already.
        let start = max(writer.zeroedEnd, appender.base)
        do throws(StoreError) {
            try writeZeroes(start..<end)
        } catch {
            // Zeroes only make appending faster. The commit may still fit.
            guard error.code != .noSpace else { return }
            try failed(error, canGoOn: false)
        }
        writer.zeroedEnd = end
        // Not with full durability: the write calls then show the system, at less cost, which pages to sync.
        guard options.durability != .full, options.usesMemoryMapping else { return }
        writer.file.storage.expectOverwriting(0..<FileFormat.dataStart)
        writer.file.storage.expectOverwriting(start..<end)
    }

    /// The system caches the bytes of one write call as one piece of memory. A sync searches the whole piece for the one page that a commit
    /// changed.
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
            // Not retried on this handle: after a failed sync the system may call pages clean that are not on the disk.
            try failed(error.asUncertain, canGoOn: false)
        }
    }

    /// Writes a superblock over the older of the two.
    /// - Throws: `noSpace` if a copy-on-write file system has no room for the overwritten block. The newest superblock is then unchanged, and
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

    /// As `writeSuperblock`, for a superblock whose content the log has too. If there is no room, its content is written with the next one.
    /// Until then the state is as after a crash here: a process that opens the file or takes its lock finds the commit in the log, and
    /// handles that only read see it later.
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

    /// Tries to write a superblock that waits for room, if one does.
    func announceWaiting() {
        if writer.isSuperblockPending { try? writeSuperblock(writer.superblock) }
    }

    func failed(_ error: StoreError, canGoOn: Bool) throws(StoreError) {
        if !canGoOn { writer.poison = error }
        throw error
    }

    /// The snapshot after a transaction. The transaction is used up.
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
                if indexes[number] == nil { indexes[number] = transaction.builtIndexes[definition.id] ?? .empty }
            }
        }
        transaction.entries.add(to: &indexes)
        if transaction.isCatalogChanged { transaction.catalog.removeDropped(&tables, &indexes) }
        return Snapshot(
            sequence: base.sequence + 1, catalog: transaction.catalog, file: base.file, end: end, commitChecksum: commitChecksum,
            tables: tables, indexes: indexes, counters: counters)
    }
}

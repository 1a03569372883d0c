/// Catching up with the commits of other processes.
extension LockedStore {
    /// Brings this handle up to the file's newest commit.
    /// - Parameters:
    ///   - isLocked: whether the caller holds the file's lock.
    ///   - held: see `CommitCoordinator.held`.
    func catchUp(isLocked: Bool, holding held: [LockedStore] = []) throws(StoreError) {
        guard !store.showsPast else { return }
        // Commits that wait for a sync hold the file's lock, so nothing is new.
        guard isLocked || !isAhead else { return }
        try followReplacement(isLocked: isLocked, holding: held)
        if isLocked { try catchUpAsWriter(holding: held) } else { try catchUpAsReader() }
    }

    /// Without the lock: reads to the published end, and behind it only a commit that another store has decided for.
    private func catchUpAsReader() throws(StoreError) {
        let base = writer.base ?? snapshot(), file = base.file
        _ = try sizeOfWhole(file)
        let (superblock, mark) = try publishedSuperblock(file)
        let isNew = superblock.generation > writer.superblock.generation
        try checkIsNotOlder(superblock, areWhole: mark != nil)
        // A decided commit that the file does not have yet stays shown.
        guard isNew || superblock.isUnresolved && writer.base == nil else { return writer.remember(mark) }
        // Another process may have written since what the superblock names.
        let size = try file.storage.size()
        try check(superblock, reachedBy: size)
        let behind = try superblock.isUnresolved ? UnpublishedTail(
            file, behind: superblock.sequence, checksum: superblock.commitChecksum, at: superblock.end, superblock: superblock, size: size) : nil
        let limit = behind?.end ?? superblock.end
        file.extendReadable(to: limit)
        if max(limit, superblock.end) > writer.end || behind?.prepared != nil || writer.base != nil {
            let (replay, start) = try replayed(over: base, superblock, limit: limit, size: size)
            let decided = try behind?.prepared.flatMap { prepared throws(StoreError) in try self.decided(prepared, file) }
            if replay.end != writer.end || decided != nil { try adopt(replay, from: start, over: base, decided: decided) }
        }
        noteCaughtUp(superblock, mark, isNew: isNew, file, size: size)
    }

    /// Under the lock: reads the whole log, also a commit whose writer died before it could publish it, and takes up what such a writer
    /// left to do.
    private func catchUpAsWriter(holding held: [LockedStore]) throws(StoreError) {
        let base = writer.base ?? snapshot(), file = base.file
        let size = try sizeOfWhole(file)
        let (superblock, mark) = try publishedSuperblock(file)
        try checkIsNotOlder(superblock, areWhole: mark != nil)
        try check(superblock, reachedBy: size)
        file.extendReadable(to: size)
        let isFollowed = try hasFrame(at: writer.end, file, size: size)
        if isFollowed || superblock.end > writer.end || writer.base != nil {
            let (replay, start) = try replayed(over: base, superblock, limit: size, size: size)
            if let prepared = replay.prepared { try complete(prepared, replay, held) }
            if replay.end > superblock.end, options.durability != .none { try file.rewrite(from: superblock.end, to: replay.end) }
            let isStuck = replay.end == writer.end || replay.prepared != nil
            try adopt(replay, from: start, over: base, decided: nil)
            if isStuck {
                // (7) A writer that died left this behind the last whole commit.
                cutTail()
                if options.durability == .full { try syncFile() }
            }
        }
        noteCaughtUp(superblock, mark, isNew: superblock.generation > writer.superblock.generation, file, size: size)
        writer.takeUp(snapshot())
        if options.durability != .none, writer.mustRewrite || writer.superblock.isUnresolved {
            // (4) As an opening with the lock does: this handle may have read before what no superblock calls durable. That may be pages that a
            // failed sync left behind, and this handle's next sync does not report that failure.
            try file.rewrite(from: writer.superblock.durableEnd, to: writer.end)
            writer.mustRewrite = false
        }
        if writer.superblock.isUnresolved { try publishResolved() }
        guard options.durability != .none, writer.superblock.isUnsettled else { return }
        // (9) This handle went over to a compacted file without the lock, and the compaction's process died before the name was durable.
        try fileSystem.syncDirectory(of: path)
        var settled = writer.superblock
        settled.isUnsettled = false
        try writeSuperblock(settled)
    }

    /// The file's size. Asked before anything is touched: a mapped page that the file does not have any more faults.
    private func sizeOfWhole(_ file: LogFile) throws(StoreError) -> UInt64 {
        let size = try file.storage.size()
        guard size >= max(FileFormat.dataStart, writer.end) else {
            file.cutReadable(to: size)
            throw LogFile.cut(path, to: size)
        }
        return size
    }

    private func check(_ superblock: Superblock, reachedBy size: UInt64) throws(StoreError) {
        guard size >= superblock.end else { throw StoreError.corrupt(path, at: size, "the file is shorter than its header says") }
    }

    /// The log up to a limit, read from this handle's newest commit or from a newer checkpoint.
    private func replayed(
        over base: Snapshot, _ superblock: Superblock, limit: UInt64, size: UInt64
    ) throws(StoreError) -> (replay: Replay, start: Snapshot) {
        let (start, position) = startOfCatchingUp(base, superblock, size: size)
        let replay = Replay(file: base.file, from: start, at: position, options: options)
        try replay.run(limit: limit, publishedEnd: superblock.end, wholeEnd: superblock.end)
        guard replay.end >= superblock.end else {
            throw StoreError.corrupt(path, at: replay.end, "the log ends before its published end")
        }
        return (replay, start)
    }

    /// Publishes what a replay has found.
    /// - Parameter decided: a commit behind it that another store has decided for; snapshots show it before the file has it.
    private func adopt(
        _ replay: Replay, from start: Snapshot, over base: Snapshot, decided: (prepared: PreparedCommit, frame: FramePointer, end: UInt64)?
    ) throws(StoreError) {
        writer.end = replay.end
        writer.bytesBehind = (start === base ? writer.bytesBehind : 0) + replay.commitBytes
        writer.bytesUnspilled = (start === base ? writer.bytesUnspilled : 0) + replay.commitBytes
        // Another handle has written what failed here.
        if start !== base { writer.bytesBehindAtFailure = 0 }
        let newest = try replay.finish(counters: counters)
        note(built: replay.builtBytes)
        writer.base = decided == nil ? nil : newest
        if let decided { try replay.take(decided.prepared, decided.frame, end: decided.end) }
        publish(decided == nil ? newest : try replay.finish(counters: counters))
        if decided == nil { spillWhatOthersWrote() }
    }

    private func noteCaughtUp(_ superblock: Superblock, _ mark: HeaderMark?, isNew: Bool, _ file: LogFile, size: UInt64) {
        // Zeroes of another writer's making, or nothing where the tail was cut.
        writer.zeroedEnd = max(writer.end, min(size, file.readableEnd))
        if isNew {
            writer.superblock = superblock
            writer.isSuperblockPending = false
        }
        writer.remember(mark)
    }

    // MARK: Saves over several stores

    /// Writes the commit frame that a prepared commit lacks, if the coordinator's store has decided for it. Otherwise does nothing, and the
    /// caller cuts off the prepared commit.
    private func complete(_ prepared: PreparedCommit, _ replay: Replay, _ held: [LockedStore]) throws(StoreError) {
        guard try coordinatorStore(prepared, held).settle() else { return }
        let (appender, frame) = try prepared.completion(in: replay.file, counters: counters)
        try write(appender)
        try replay.take(prepared, frame, end: appender.position)
    }

    /// The commit frame that will complete a prepared commit; nil unless the coordinator's store has decided for it.
    private func decided(
        _ prepared: PreparedCommit, _ file: LogFile
    ) throws(StoreError) -> (prepared: PreparedCommit, frame: FramePointer, end: UInt64)? {
        guard case .committed = coordinatorStore(prepared, []).ask() else { return nil }
        file.extendReadable(to: prepared.end)
        let (appender, frame) = try prepared.completion(in: file, counters: counters)
        return (prepared, frame, appender.position)
    }

    private func coordinatorStore(_ prepared: PreparedCommit, _ held: [LockedStore]) -> CommitCoordinator {
        CommitCoordinator(prepared: prepared, path: path, options: options, fileSystem: fileSystem, held: held)
    }

    /// Publishes that no prepared commit waits behind the published end any more, and makes the commits found there durable.
    private func publishResolved() throws(StoreError) {
        if options.durability == .full, writer.superblock.durableEnd < writer.end { try syncFile() }
        let newest = snapshot()
        var superblock = writer.superblock(upTo: writer.end)
        superblock.sequence = newest.sequence
        superblock.commitChecksum = newest.commitChecksum
        superblock.isUnresolved = false
        if options.durability == .full {
            superblock.durableSequence = superblock.sequence
            superblock.durableEnd = superblock.end
        }
        try writeSuperblock(superblock)
    }

    /// The state to continue from: this handle's newest commit, or a checkpoint that another process has written since. The checkpoint bounds
    /// the memory of a handle that only follows.
    private func startOfCatchingUp(_ base: Snapshot, _ superblock: Superblock, size: UInt64) -> (Snapshot, UInt64) {
        guard superblock.checkpoint != writer.superblock.checkpoint, !superblock.checkpoint.isNone, superblock.checkpoint.offset < size,
            let loaded = try? CheckpointReader(file: base.file, counters: counters).load(superblock.checkpoint, size: size)
        else { return (base, writer.end) }
        return (loaded.snapshot, loaded.end)
    }

    /// The newest superblock, and a mark that shows whether another one was written since; the mark is nil if that is uncertain. Another
    /// process may write one superblock and then the other while they are read. No mark is kept of a half-written superblock, since its
    /// checksum may already be the new one.
    private func publishedSuperblock(_ file: LogFile) throws(StoreError) -> (Superblock, HeaderMark?) {
        for _ in 0..<10 {
            let found = try file.withBytes(at: 0, count: Int(FileFormat.dataStart)) { header throws(StoreError) -> (Superblock, HeaderMark?)? in
                // Made before the superblocks are read, so that a write in between gives another mark.
                let mark = HeaderMark(header)
                guard mark != writer.mark else { return (writer.superblock, mark) }
                writer.mark = nil
                let (newest, areWhole) = HeaderReader.superblocks(header, fileID: file.identity.fileID)
                return newest.map { ($0, areWhole ? mark : nil) }
            }
            if let found { return found }
        }
        throw StoreError.corrupt(path, at: 0, "both superblocks are damaged")
    }

    /// Detects a backup that was copied over the open file: it has the same inode and older superblocks. Frames that this handle appends
    /// would be stored behind a gap. A superblock that is damaged, or is being written, leaves the one before as the newest; that is not an
    /// older state.
    private func checkIsNotOlder(_ superblock: Superblock, areWhole: Bool) throws(StoreError) {
        let known = writer.superblock
        guard areWhole, superblock.generation <= known.generation else { return }
        // A superblock that waits for room is not in the file.
        guard superblock.generation < known.generation || superblock != known && !writer.isSuperblockPending else { return }
        throw StoreError(
            .superseded, path: path, at: superblock.offset,
            "an older or another state of this store was copied into its file while it was open: "
                + "commit \(superblock.sequence) is its newest, and this handle has seen commit \(known.sequence)",
            remedy: "Nothing was written. Close the store and open it again; replace a store's file by a rename, or while no program has it open.")
    }

    /// Under the lock no other process writes a superblock, and this handle has taken up all that the header says. So the header is known,
    /// damaged superblocks included.
    func rememberHeader() throws(StoreError) {
        guard writer.mark == nil else { return }
        writer.mark = try writer.file.headerMark()
    }

    /// Whether bytes follow the log's end: a writer died after appending and before publishing.
    private func hasFrame(at offset: UInt64, _ file: LogFile, size: UInt64) throws(StoreError) -> Bool {
        guard size >= offset + UInt64(FrameHeader.lengthMin) else { return false }
        return try file.withBytes(at: offset, count: FrameHeader.lengthMin) { $0.load(as: UInt32.self) != 0 }
    }

    /// Goes over to the file that has replaced this one at the path, if one has.
    private func followReplacement(isLocked: Bool, holding held: [LockedStore]) throws(StoreError) {
        for _ in 0..<100 {
            let identity = try fileSystem.identity(of: path)
            guard let identity, identity != writer.file.storage.identity else {
                guard identity != nil || !isLocked else {
                    throw StoreError(
                        .notFound, path: path, "the store's file was removed", remedy: "Restore it; nothing is written to a removed file.")
                }
                return
            }
            let storage = try fileSystem.open(path, options.isReadOnly ? .readOnly : .readWrite)
            // The store was destroyed, or another one is being created. Keep reading this handle's own file, as if it had been removed.
            if !isLocked, try storage.size() == 0 { return }
            if isLocked { try storage.lock(timeout: options.lockTimeout) }
            // Without the lock another process may be writing: the bytes behind the published end are its work, not a torn tail.
            var asReader = options
            asReader.isReadOnly = options.isReadOnly || !isLocked
            let opening = Opening(path: path, options: asReader, fileSystem: fileSystem, counters: counters, held: held)
            let opened: OpenedFile
            do throws(StoreError) {
                opened = try opening.recover(storage, isPublishedOnly: !isLocked, mayCreate: false)
                if !options.isReadOnly, let damage = opened.damage { throw damage }
            } catch {
                if isLocked { storage.unlock() }
                throw error
            }
            guard opened.snapshot.file.identity.storeID == store.storeID else {
                if isLocked { storage.unlock() }
                throw StoreError(
                    .superseded, path: path, "another store has taken this one's path", remedy: "Close the store and open it again.")
            }
            // An older state is a backup. Rows read so far would be newer than the file, and row numbers already given would be given again.
            guard opened.snapshot.sequence >= snapshot().sequence else {
                if isLocked { storage.unlock() }
                throw StoreError(
                    .superseded, path: path, "an older state of this store has taken its path", remedy: "Close the store and open it again.")
            }
            if isLocked { writer.file.storage.unlock() }
            writer.take(opened)
            if !isLocked { writer.mustRewrite = true }
            publish(opened.snapshot)
        }
    }
}

extension WriterState {
    /// Takes up commits that the log has and no superblock names: their writer died before it wrote the superblock, or had no room for it.
    /// The next superblock names them and leaves the durable end unchanged.
    fileprivate func takeUp(_ newest: Snapshot) {
        guard superblock.sequence < newest.sequence else { return }
        superblock = superblock(upTo: end)
        superblock.sequence = newest.sequence
        superblock.commitChecksum = newest.commitChecksum
        isSuperblockPending = true
    }

    /// Goes over to another file.
    func take(_ opened: OpenedFile) {
        file = opened.snapshot.file
        base = opened.base
        superblock = opened.superblock
        mark = nil
        end = opened.end
        syncedEnd = 0
        bytesBehind = opened.bytesBehind
        bytesUnspilled = opened.bytesBehind
        bytesBehindAtFailure = 0
        mustRewrite = opened.lacksRoom
        isSuperblockPending = opened.lacksRoom
        zeroedEnd = opened.zeroedEnd
        compactionLookAt = 0
    }
}

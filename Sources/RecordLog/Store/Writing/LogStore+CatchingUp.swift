/// Learning what other processes have written.
extension LogStore {
    /// Brings this handle up to the file's newest commit.
    /// - Parameters:
    ///   - isLocked: whether the caller holds the file's lock, and so may follow the log past what is published: to a commit whose
    ///     writer died before it could say so.
    ///   - held: see `CommitCoordinator.held`.
    func catchUp(isLocked: Bool, holding held: [LogStore] = []) throws(StoreError) {
        try followReplacement(isLocked: isLocked, holding: held)
        let base = writer.base ?? snapshot()
        let file = base.file
        // Before anything is touched: what is mapped and not there any more faults.
        var size = try file.storage.size()
        guard size >= max(FileFormat.dataStart, writer.end) else {
            file.cutReadable(to: size)
            throw LogFile.cut(path, to: size)
        }
        let (superblock, mark) = try publishedSuperblock(file)
        let isNew = superblock.generation > writer.superblock.generation
        try checkIsNotOlder(superblock, areWhole: mark != nil)
        // What is shown before it is in the file stays so: it was decided.
        guard isNew || isLocked || superblock.isUnresolved && writer.base == nil else { return writer.remember(mark) }
        // Another process may have written what the superblock says since.
        if !isLocked { size = try file.storage.size() }
        guard size >= superblock.end else {
            throw StoreError.corrupt(path, at: size, "the file is shorter than its header says")
        }
        let behind = try isLocked || !superblock.isUnresolved ? nil : UnpublishedTail(
            file, behind: superblock.sequence, checksum: superblock.commitChecksum, at: superblock.end, superblock: superblock, size: size)
        let limit = isLocked ? size : behind?.end ?? superblock.end
        file.extendReadable(to: limit)
        let isFollowed = try isLocked ? hasFrame(at: writer.end, file, size: size) : limit > writer.end || behind?.prepared != nil
        if superblock.end > writer.end || isFollowed || writer.base != nil {
            let (start, position) = startOfCatchingUp(base, superblock, size: size)
            let replay = Replay(file: file, from: start, at: position, options: options)
            try replay.run(limit: limit, publishedEnd: superblock.end, wholeEnd: superblock.end)
            guard replay.end >= superblock.end else {
                throw StoreError.corrupt(path, at: replay.end, "the log ends before what was published")
            }
            if isLocked, let prepared = replay.prepared { try complete(prepared, replay, held) }
            let shown = try behind?.prepared.flatMap { prepared throws(StoreError) in try decided(prepared, file) }
            if isLocked, replay.end > superblock.end, options.durability != .none {
                try file.rewrite(from: superblock.end, to: replay.end)
            }
            let hasMoved = replay.end != writer.end
            let isStuck = !hasMoved || replay.prepared != nil
            if hasMoved || isLocked || shown != nil {
                writer.end = replay.end
                writer.bytesBehind = (start === base ? writer.bytesBehind : 0) + replay.commitBytes
                // What failed here another handle has written.
                if start !== base { writer.bytesBehindAtFailure = 0 }
                let newest = try replay.finish(counters: counters)
                writer.base = shown == nil ? nil : newest
                if let shown { try replay.take(shown.prepared, shown.frame, end: shown.end) }
                publish(shown == nil ? newest : try replay.finish(counters: counters))
            }
            if isStuck, isLocked {
                // (7) What a writer that died left behind the last whole commit.
                cutTail()
                if options.durability == .full { try syncFile() }
            }
        }
        // Zeroes of another writer's making, or nothing where the tail was cut.
        writer.zeroedEnd = max(writer.end, min(size, file.readableEnd))
        if isNew {
            writer.superblock = superblock
            writer.isSuperblockPending = false
        }
        writer.remember(mark)
        if isLocked { writer.takeUp(snapshot()) }
        if isLocked, options.durability != .none, writer.mustRewrite || writer.superblock.isUnresolved {
            // (4) As an opening with the lock does: what no superblock calls durable, and may have been read before by this handle, may be pages that
            // a failed sync left behind, of which this handle's next sync is not told.
            try file.rewrite(from: writer.superblock.durableEnd, to: writer.end)
            writer.mustRewrite = false
        }
        if isLocked, writer.superblock.isUnresolved { try publishResolved() }
        guard isLocked, options.durability != .none, writer.superblock.isUnsettled else { return }
        // (9) This handle went over to a compacted file without the lock, and whoever made it died before its name was durable.
        try fileSystem.syncDirectory(of: path)
        var settled = writer.superblock
        settled.isUnsettled = false
        try writeSuperblock(settled)
    }

    // MARK: Saves over several stores

    /// Writes the commit frame that a prepared commit lacks, where the coordinator's store says so; else nothing, and it is cut off.
    private func complete(_ prepared: PreparedCommit, _ replay: Replay, _ held: [LogStore]) throws(StoreError) {
        guard try coordinatorStore(prepared, held).settle() else { return }
        let (appender, frame) = try prepared.completion(in: replay.file, counters: counters)
        try write(appender)
        try replay.take(prepared, frame, end: appender.position)
    }

    /// The frame that whoever completes a prepared commit will write, where the coordinator's store says that it is to be.
    private func decided(
        _ prepared: PreparedCommit, _ file: LogFile
    ) throws(StoreError) -> (prepared: PreparedCommit, frame: FramePointer, end: UInt64)? {
        guard case .committed = coordinatorStore(prepared, []).ask() else { return nil }
        file.extendReadable(to: prepared.end)
        let (appender, frame) = try prepared.completion(in: file, counters: counters)
        return (prepared, frame, appender.position)
    }

    private func coordinatorStore(_ prepared: PreparedCommit, _ held: [LogStore]) -> CommitCoordinator {
        CommitCoordinator(prepared: prepared, path: path, options: options, fileSystem: fileSystem, held: held)
    }

    /// Says that nothing waits behind the published end any more, and makes durable what was found there.
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

    /// Where to go on from: this handle's newest commit, or a checkpoint that another process has written since, so that what
    /// is kept in memory stays bounded for a handle that only follows.
    private func startOfCatchingUp(_ base: Snapshot, _ superblock: Superblock, size: UInt64) -> (Snapshot, UInt64) {
        guard superblock.checkpoint != writer.superblock.checkpoint, !superblock.checkpoint.isNone, superblock.checkpoint.offset < size,
            let loaded = try? CheckpointReader(file: base.file, counters: counters).load(superblock.checkpoint, size: size)
        else { return (base, writer.end) }
        return (loaded.snapshot, loaded.end)
    }

    /// The newest superblock, and what tells whether another one has been written since; nil where that is not certain. Another process may be
    /// writing one, and then the other, while they are read: of one that is half there nothing is remembered, its checksum least of all.
    private func publishedSuperblock(_ file: LogFile) throws(StoreError) -> (Superblock, HeaderMark?) {
        for _ in 0..<10 {
            let found = try file.withBytes(at: 0, count: Int(FileFormat.dataStart)) { header throws(StoreError) -> (Superblock, HeaderMark?)? in
                // Before the superblocks: what is written in between makes another mark.
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

    /// A backup that was copied over the open file has the same inode and the superblocks of its day. What this handle would append to it would
    /// lie behind a gap. A superblock that is damaged, or just being written, leaves the one before as the newest; that is no older state.
    private func checkIsNotOlder(_ superblock: Superblock, areWhole: Bool) throws(StoreError) {
        let known = writer.superblock
        guard areWhole, superblock.generation <= known.generation else { return }
        // One that waits for room is not in the file.
        guard superblock.generation < known.generation || superblock != known && !writer.isSuperblockPending else { return }
        throw StoreError(
            .superseded, path: path, at: superblock.offset,
            "an older or another state of this store was copied into its file while it was open: commit \(superblock.sequence) is its newest, and this "
                + "handle has seen commit \(known.sequence)",
            remedy: "Nothing was written. Close the store and open it again; replace a store's file by a rename, or while nobody has it open.")
    }

    /// Under the lock nobody writes a superblock, and all that the header says was taken up: it is known, damaged superblocks and all.
    func rememberHeader() throws(StoreError) {
        guard writer.mark == nil else { return }
        writer.mark = try writer.file.headerMark()
    }

    /// Whether something follows the log's end: a writer died after appending and before publishing.
    private func hasFrame(at offset: UInt64, _ file: LogFile, size: UInt64) throws(StoreError) -> Bool {
        guard size >= offset + UInt64(FrameHeader.lengthMin) else { return false }
        return try file.withBytes(at: offset, count: FrameHeader.lengthMin) { $0.load(as: UInt32.self) != 0 }
    }

    /// Goes over to the file that has taken the path's place, if one has.
    private func followReplacement(isLocked: Bool, holding held: [LogStore]) throws(StoreError) {
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
            // Of a store that was destroyed, or one in the making: this one's own file is read on, as where it was removed.
            if !isLocked, try storage.size() == 0 { return }
            if isLocked { try storage.lock(timeout: options.lockTimeout) }
            // Without the lock another process may be writing: what is behind the published end is its work, not a torn tail.
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
            guard opened.snapshot.file.identity.storeID == storeID else {
                if isLocked { storage.unlock() }
                throw StoreError(
                    .superseded, path: path, "another store has taken this one's path", remedy: "Close the store and open it again.")
            }
            // A backup: what was read would be of a time to come, and row numbers that were given out would be given out again.
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

extension Writer {
    /// What the log has and no superblock says: its writer died before the superblock, or had no room for it. It is told with the next superblock, and is as little
    /// durable as that says.
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
        bytesBehindAtFailure = 0
        mustRewrite = opened.lacksRoom
        isSuperblockPending = opened.lacksRoom
        zeroedEnd = opened.zeroedEnd
        compactionLookAt = 0
    }
}

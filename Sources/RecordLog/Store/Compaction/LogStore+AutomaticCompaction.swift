import Synchronization

/// idle -> announced -> running -> idle, or announced -> idle, or running -> stopping -> idle.
enum AutomaticCompaction: UInt8, AtomicRepresentable {
    case idle
    /// A commit found that a compaction is due. The committing thread starts it once it holds no lock.
    case announced
    case running
    /// It must end early.
    case stopping
}

/// A store that is written to compacts itself by the policy of its options, on a thread, one compaction at a time.
///
/// A failure does no harm: the store is unchanged, and the next try waits until the log has grown by a quarter.
extension LogStore {
    /// Must not be called under the store's locks.
    func startCompactingIfDue() {
        guard compacting.load(ordering: .relaxed) == .announced, !isForked,
            compacting.compareExchange(expected: .announced, desired: .running, ordering: .acquiringAndReleasing).exchanged
        else { return }
        let isStarted = SystemThread.start { [self] in
            // Another process may be compacting, or the disk may be full. Such a fault shows when a caller asks for something.
            _ = try? runCompaction(keeping: .none) { [self] _ in compacting.load(ordering: .acquiring) == .running }
            writerLock.hold(for: self) { $0.writer.compactionLookAt = $0.writer.end + max(1 << 16, $0.writer.end / 4) }
            endCompacting()
        }
        if !isStarted { endCompacting() }
    }

    /// Cancels an automatic compaction and waits for its end. Must not be called under the store's locks.
    func stopCompacting() {
        // A child of fork() does not have the thread.
        while !isForked {
            switch compacting.load(ordering: .acquiring) {
            case .idle: return
            case .announced:
                compactionEnd.change { _ = compacting.compareExchange(expected: .announced, desired: .idle, ordering: .acquiringAndReleasing) }
            case .running: _ = compacting.compareExchange(expected: .running, desired: .stopping, ordering: .acquiringAndReleasing)
            case .stopping: finishCompacting()
            }
        }
    }

    /// Waits for an automatic compaction.
    func finishCompacting() {
        if !isForked { compactionEnd.wait { compacting.load(ordering: .acquiring) == .idle } }
    }

    private func endCompacting() { compactionEnd.change { compacting.store(.idle, ordering: .releasing) } }
}

extension LockedStore {
    /// Called after a commit or a checkpoint. Costs one comparison unless the log has grown noticeably.
    func announceCompactionIfDue() {
        guard let policy = options.compaction, writer.end >= max(writer.compactionLookAt, policy.minimumBytes), !writer.isClosed
        else { return }
        writer.compactionLookAt = writer.end + max(1 << 16, writer.end / 16)
        guard policy.isDue(logBytes: writer.end, usedBytes: snapshot().usedBytes) else { return }
        _ = store.compacting.compareExchange(expected: .idle, desired: .announced, ordering: .acquiringAndReleasing)
    }
}

extension Snapshot {
    /// An estimate of the log's bytes that the newest commit needs: rows, the runs of its indexes on disk, pages. O(indexes).
    var usedBytes: UInt64 {
        var bytes = FileFormat.dataStart
        for state in tables { bytes += (state?.liveBytes ?? 0) + (state?.rowCount ?? 0) * 4 }
        for runs in indexes { bytes += runs?.diskByteCount ?? 0 }
        return bytes
    }
}

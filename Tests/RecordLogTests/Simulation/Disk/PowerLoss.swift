import HeartwoodTestSupport

@testable import RecordLog

/// The unsynced writes that are on the disk after a power failure. FORMAT.md, "Media", lists the possibilities.
enum PowerLoss: UInt64, CaseIterable {
    case nothing
    case everything
    /// The first ones, in order.
    case beginning
    /// Any of them, whole: later ones may be on the disk without earlier ones.
    case some
    /// Pieces of them, cut at 512 or 4096 bytes, or the beginning of one up to any byte.
    case pieces
    /// The same; missing pieces of an extended file are garbage.
    case piecesAndGarbage
}

extension DiskState {
    /// The disk as a restarted machine finds it: some part of each journal, chosen by the seed.
    /// - Parameter inFlight: a call that had started and may have happened.
    func afterPowerLoss(seed: UInt64, inFlight: DiskCall?) -> DiskState {
        var before = self
        if let inFlight { before.journal(inFlight.unsynced) }
        var random = SeededGenerator(seed: seed &+ 77)
        let loss = PowerLoss.allCases[Int(seed % UInt64(PowerLoss.allCases.count))]
        // A directory's changes reach the disk in order.
        var names = before.durableNames
        for change in before.nameJournal.prefix(Int.random(in: 0...before.nameJournal.count, using: &random)) {
            Self.apply(change, to: &names)
        }
        var after = DiskState()
        // Sorted by name, so that one seed always gives the same bytes.
        for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
            let new = after.newInode()
            let survivor = before.files[inode].map { Self.survivor(of: $0, loss, &random) } ?? []
            after.addFile(new, path: name, durable: survivor)
            after.names[name] = new
        }
        after.durableNames = after.names
        return after
    }

    private static func survivor(of file: File, _ loss: PowerLoss, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = file.durable
        if loss == .nothing { return bytes }
        let keep = loss == .beginning ? Int.random(in: 0...file.journal.count, using: &random) : file.journal.count
        for change in file.journal.prefix(keep) {
            switch loss {
            case .nothing: break
            case .everything, .beginning: apply(change, to: &bytes)
            case .some:
                if Bool.random(using: &random) { apply(change, to: &bytes) }
            case .pieces, .piecesAndGarbage:
                tear(change, isGarbage: loss == .piecesAndGarbage, &bytes, &random)
            }
        }
        return bytes
    }

    /// Applies a part of a change.
    private static func tear(_ change: DiskCall, isGarbage: Bool, _ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard case .write(let inode, let offset, let new) = change, new.count < 1 << 17 else {
            if Bool.random(using: &random) { apply(change, to: &bytes) }
            return
        }
        let piece = [1, 512, 4096][Int.random(in: 0..<3, using: &random)]
        guard piece > 1 else {
            let cut = Int.random(in: 0...new.count, using: &random)
            apply(.write(inode: inode, offset: offset, bytes: Array(new[..<cut])), to: &bytes)
            return
        }
        let oldEnd = bytes.count
        var at = 0
        while at < new.count {
            let position = Int(offset) + at
            let end = min(new.count, at + piece - position % piece)
            if Bool.random(using: &random) {
                apply(.write(inode: inode, offset: UInt64(position), bytes: Array(new[at..<end])), to: &bytes)
            } else if isGarbage, position >= max(oldEnd, Int(FileFormat.dataStart)) {
                // Overwritten bytes are old or new ones; only extended parts may have garbage. By FORMAT.md a new file's header with garbage is not
                // a store, and the store was never acknowledged.
                let garbage = (0..<(end - at + 7) / 8).map { _ in random.next() }
                let filled = garbage.withUnsafeBytes { Array($0[..<(end - at)]) }
                apply(.write(inode: inode, offset: UInt64(position), bytes: filled), to: &bytes)
            }
            at = end
        }
    }
}

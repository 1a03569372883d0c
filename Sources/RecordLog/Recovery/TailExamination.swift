/// Tells a torn tail from corruption: whether what follows the last valid commit had ever been durable.
///
/// A crash leaves unfinished or unsynced bytes behind the last commit; they may go. Damage to bytes that a later footer or
/// the header's floor shows to have been on the disk is corruption; they may not.
struct TailExamination {
    let file: LogFile
    /// The last valid commit.
    let sequence: UInt64
    let end: UInt64
    let size: UInt64
    let slot: HeaderSlot?

    enum Outcome: Equatable {
        /// Zeroes, or nothing.
        case clean
        case torn
        /// Where the damage is, and what shows it.
        case corrupt(UInt64, String)
    }

    /// Bytes whose checksums may be computed for each byte of the tail. A tail that takes more was made to take more.
    private static let hashedPerByte: UInt64 = 8

    func run() throws(StoreError) -> Outcome {
        var budget = (size - min(end, size)) * Self.hashedPerByte
        if let slot, slot.durableEnd > end {
            return .corrupt(end, Self.durableEvidence(slot))
        }
        guard end < size else { return .clean }
        var isClean = true
        var offset = end
        while offset < size {
            let stretch = min(file.room(at: offset), size - offset)
            let pointer = try file.pointer(at: offset)
            if Self.isZero(UnsafeRawBufferPointer(start: pointer, count: Int(stretch))) {
                offset += stretch
                continue
            }
            isClean = false
            let stop = offset + stretch
            while offset < stop {
                if let evidence = try laterCommit(at: offset, &budget) { return evidence }
                offset += UInt64(FrameHeader.alignment)
            }
        }
        return isClean ? .clean : .torn
    }

    static func durableEvidence(_ slot: HeaderSlot) -> String {
        "the header says that the log was durable up to byte \(slot.durableEnd)"
    }

    /// Whether a footer stands here that knew the missing commit to be durable.
    private func laterCommit(at offset: UInt64, _ budget: inout UInt64) throws(StoreError) -> Outcome? {
        guard let header = FrameHeader(try file.pointer(at: offset), limit: min(size - offset, file.room(at: offset))),
            header.kind == .commit, header.sequence > sequence
        else { return nil }
        guard UInt64(header.length) <= budget else {
            return .corrupt(end, "what follows looks like commits at more places than commits can be")
        }
        budget -= UInt64(header.length)
        guard let frame = try file.frame(at: offset, limit: size), let footer = CommitFooter(payload: frame.payload),
            footer.sequence > sequence, footer.durableSequence > sequence
        else { return nil }
        return .corrupt(
            end, "commit \(footer.sequence) at byte \(offset) says that commit \(sequence + 1) was durable, and it is not there")
    }

    static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while at + 32 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                | bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)
                | bytes.loadUnaligned(fromByteOffset: at + 16, as: UInt64.self)
                | bytes.loadUnaligned(fromByteOffset: at + 24, as: UInt64.self)
            if word != 0 { return false }
            at += 32
        }
        return bytes[at...].allSatisfy { $0 == 0 }
    }
}

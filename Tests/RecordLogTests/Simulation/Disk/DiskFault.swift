/// A disk's failure at a chosen call.
enum DiskFault: Sendable {
    /// The power fails: that call and all later ones fail, and a write may have happened in part.
    case powerLoss
    /// Only that call fails, with this error number; a write may have happened in part.
    case once(Int32)
    /// That call and all later ones fail, until `heal()`.
    case forGood(Int32)
    /// The first sync from there on fails, and the system marks its dirty pages clean: they stay readable, and no later sync writes them. As on
    /// Linux, each handle that was open gets the error at its next sync.
    case syncLosesPages
}

/// The pending faults of a disk.
struct DiskFaults: Sendable {
    /// The number of the first call at which the fault happens.
    var at: Int?
    var fault = DiskFault.powerLoss
    var failingForGood: Int32?
    /// The most bytes that all files may have together.
    var capacity = UInt64.max
    /// Bytes that may still be written, including overwritten ones: the room of a copy-on-write file system.
    var room = UInt64.max
    /// The number of reads before one fails.
    var readsBefore: Int?
    var readError: Int32 = 0

    /// The fault for this call, which is removed.
    mutating func take(_ kind: DiskCall.Kind, number: Int) -> DiskFault? {
        if let code = failingForGood { return .once(code) }
        guard let at, number >= at else { return nil }
        if case .syncLosesPages = fault, !kind.isSync { return nil }
        self.at = nil
        guard case .forGood(let code) = fault else { return fault }
        failingForGood = code
        return .once(code)
    }

    /// Whether the disk has no room for a call's bytes; otherwise takes the room.
    mutating func isFull(for call: DiskCall, growth: UInt64, size: UInt64) -> Bool {
        let count = UInt64(call.written?.bytes.count ?? 0)
        guard size + growth <= capacity, count <= room else { return true }
        if room != .max { room -= count }
        return false
    }

    /// The error for this read.
    mutating func takeRead() -> Int32? {
        guard let left = readsBefore else { return nil }
        readsBefore = left > 0 ? left - 1 : nil
        return left > 0 ? nil : readError
    }
}

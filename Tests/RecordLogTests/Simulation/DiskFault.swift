/// How a disk fails at a chosen call.
enum DiskFault: Sendable {
    /// The power goes: that call and all later ones fail, and a write may have happened in part.
    case powerLoss
    /// That call alone fails, with this error number; a write may have happened in part.
    case once(Int32)
    /// That call and all later ones fail, until `heal()`.
    case forGood(Int32)
    /// The first sync from there on fails, and the system calls clean what it had to write: it stays readable, and no later
    /// sync writes it. As Linux does, each handle that was open learns of it by its next sync.
    case syncLosesPages
}

/// The faults of a disk that are to come.
struct DiskFaults: Sendable {
    /// The number of the call from which on it happens.
    var at: Int?
    var fault = DiskFault.powerLoss
    var failingForGood: Int32?
    /// Bytes that all files together may have.
    var capacity = UInt64.max
    /// Bytes that may still be written, new ones or over others: of a file system that copies what is overwritten.
    var room = UInt64.max
    /// Reads until one fails, and how.
    var readsBefore: Int?
    var readError: Int32 = 0

    /// The fault that this call meets; it is used up.
    mutating func take(_ kind: DiskCall.Kind, number: Int) -> DiskFault? {
        if let code = failingForGood { return .once(code) }
        guard let at, number >= at else { return nil }
        if case .syncLosesPages = fault, !kind.isSync { return nil }
        self.at = nil
        guard case .forGood(let code) = fault else { return fault }
        failingForGood = code
        return .once(code)
    }

    /// Whether the disk has no room for what a call writes; else it takes its room.
    mutating func isFull(for call: DiskCall, growth: UInt64, size: UInt64) -> Bool {
        let count = UInt64(call.written?.bytes.count ?? 0)
        guard size + growth <= capacity, count <= room else { return true }
        if room != .max { room -= count }
        return false
    }

    /// The error that this read meets.
    mutating func takeRead() -> Int32? {
        guard let left = readsBefore else { return nil }
        readsBefore = left > 0 ? left - 1 : nil
        return left > 0 ? nil : readError
    }
}

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

    /// The error that this read meets.
    mutating func takeRead() -> Int32? {
        guard let left = readsBefore else { return nil }
        readsBefore = left > 0 ? left - 1 : nil
        return left > 0 ? nil : readError
    }
}

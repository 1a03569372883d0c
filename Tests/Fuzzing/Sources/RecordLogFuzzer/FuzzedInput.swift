@testable import RecordLog

/// The request of one input: its first byte chooses the decoder and the checksums to repair first.
struct FuzzedInput {
    enum Target: UInt8, CaseIterable {
        case file, catalog, manifest, footer, rowNumbers, frame, header, run
    }

    let target: Target
    let repair: ChecksumRepair
    /// Whether a file is written to.
    let writes: Bool
    let body: [UInt8]

    /// The low three bits are the target, the next bit is `writes`, the high four are the repair.
    init?(_ data: UnsafeBufferPointer<UInt8>) {
        guard let first = data.first, let target = Target(rawValue: first & 7) else { return nil }
        self.target = target
        writes = first & 8 != 0
        repair = ChecksumRepair(rawValue: first >> 4)
        body = Array(data.dropFirst())
    }

    static func encoded(_ target: Target, _ repair: ChecksumRepair, writes: Bool, _ body: [UInt8]) -> [UInt8] {
        [target.rawValue | (writes ? 8 : 0) | repair.rawValue << 4] + body
    }
}

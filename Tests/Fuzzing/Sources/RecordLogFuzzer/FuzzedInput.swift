@testable import RecordLog

/// What one input asks for: its first byte says what is decoded and which checksums are made true first.
struct FuzzedInput {
    enum Target: UInt8, CaseIterable {
        case file, catalog, manifest, footer, rowNumbers, frame, header, run
    }

    let target: Target
    let repair: ChecksumRepair
    /// Of a file: whether it is written to.
    let writes: Bool
    let body: [UInt8]

    /// Low three bits: target. The next: writes. High four: repair.
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

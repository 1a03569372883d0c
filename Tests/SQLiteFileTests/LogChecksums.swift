/// Makes the checksums of a write-ahead log true again, so that the frames behind them are read.
/// Source: SQLite, "Database File Format", 4.2; written apart from the reader's own code.
struct LogChecksums {
    private var bytes: [UInt8]
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private let isBigEndian: Bool

    /// - Returns: the log with checksums over words of this order.
    static func repaired(_ log: [UInt8], isBigEndian: Bool) -> [UInt8] {
        guard log.count >= 32 else { return log }
        var checksums = LogChecksums(bytes: log, isBigEndian: isBigEndian)
        checksums.repair()
        return checksums.bytes
    }

    private init(bytes: [UInt8], isBigEndian: Bool) {
        self.bytes = bytes
        self.isBigEndian = isBigEndian
    }

    private mutating func repair() {
        bytes.replaceSubrange(0..<4, with: [0x37, 0x7f, 0x06, isBigEndian ? 0x83 : 0x82])
        add(0..<24)
        put(24)
        let pageSize = Int(bytes[8]) << 24 | Int(bytes[9]) << 16 | Int(bytes[10]) << 8 | Int(bytes[11])
        guard pageSize >= 512, pageSize <= 65536, pageSize % 8 == 0 else { return }
        var frame = 32
        // The frames of an earlier use of the log stay as they are.
        while frame + 24 + pageSize <= bytes.count, bytes[frame + 8..<frame + 16].elementsEqual(bytes[16..<24]) {
            add(frame..<frame + 8)
            add(frame + 24..<frame + 24 + pageSize)
            put(frame + 16)
            frame += 24 + pageSize
        }
    }

    private func word(_ at: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32(isBigEndian ? 3 - $1 : $1)) }
    }

    private mutating func add(_ range: Range<Int>) {
        for at in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            first = first &+ word(at) &+ second
            second = second &+ word(at + 4) &+ first
        }
    }

    /// The sums themselves are big-endian in either order.
    private mutating func put(_ at: Int) {
        for (index, value) in [first, second].enumerated() {
            for byte in 0..<4 { bytes[at + 4 * index + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(byte))) }
        }
    }
}

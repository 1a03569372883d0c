/// Parsed formats that stay for the life of the process, found without a lock.
///
/// Invariants:
/// 1. `kept` lets go of no format, so readers need no lock (`AtomicTable`).
/// 2. An entry that was set stays as it is, and only callers of `keep`, one at a time, set one. So a format lies in the first free entry behind its
///    own, or in none.
final class FormatTable: @unchecked Sendable {
    // Unchecked: readers use `entries` only, and one thread at a time calls `keep` (2).
    private final class Kept {
        let format: String
        let template: FormatTemplate

        init(_ format: String, _ template: FormatTemplate) {
            (self.format, self.template) = (format, template)
        }
    }

    private static let entryCount = 512
    /// Half of the entries stay free, so that a search is short.
    static let keptMax = entryCount / 2

    private let entries = AtomicTable<Kept>(count: entryCount)
    private var kept: [Kept] = []

    func template(_ format: String) -> KnownFormat? {
        var index = Self.index(format)
        while let known = entries[index] {
            let found = known._withUnsafeGuaranteedRef { $0.format.hasSameBytes(as: format) ? KnownFormat(keptForever: $0.template) : nil }
            if let found { return found }
            index = (index &+ 1) & (Self.entryCount - 1)
        }
        return nil
    }

    /// Keeps a format. The caller lets no other thread call it at the same time.
    /// - Returns: false if there is no room.
    func keep(_ format: String, _ template: FormatTemplate) -> Bool {
        guard kept.count < Self.keptMax else { return false }
        var index = Self.index(format)
        while entries[index] != nil { index = (index &+ 1) & (Self.entryCount - 1) }
        let new = Kept(format, template)
        kept.append(new)
        entries.set(index, to: new)
        return true
    }

    /// The entry at which the search for a format begins.
    @inline(__always)
    private static func index(_ format: String) -> Int {
        func mixed(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
            let bytes = UnsafeRawBufferPointer(bytes)
            var hash = UInt64(bytes.count), at = 0
            while at < bytes.count {
                // A program writes its formats itself, so a hash need not withstand texts that someone chose to collide.
                let word = ASCIIText.word(bytes, at: at) ?? bytes.reduce(0) { $0 << 8 | UInt64($1) }
                hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 32
                at &+= 8
            }
            return hash
        }
        if let hash = format.utf8.withContiguousStorageIfAvailable(mixed) { return Int(truncatingIfNeeded: hash) & (entryCount - 1) }
        var native = format
        return Int(truncatingIfNeeded: native.withUTF8(mixed)) & (entryCount - 1)
    }
}

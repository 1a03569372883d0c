import Foundation
import Synchronization

/// The foldings of non-ASCII letters, each learnt once, for comparisons of many texts without case or diacritics.
///
/// It folds letters one by one, which is right as long as they do not affect each other. A text with combining marks, joiners or letters
/// beyond the basic plane must be folded as a whole by the caller.
///
/// Later queries reuse the learnt foldings: a query takes an instance (`taken`) and gives it back.
final class FoldedScalars: @unchecked Sendable {
    // Unchecked: only the query that has taken an instance uses it.
    let options: PredicateNode.Options
    private let ascii: ASCIIFoldings
    /// By scalar: 0 if unknown, `together` if it cannot be folded alone, otherwise the index in `bytes` (28 bits) and the number of bytes (4 bits).
    private let known: UnsafeMutablePointer<UInt32>
    private var bytes: UnsafeMutablePointer<UInt8>
    private var byteCount = 1
    private var byteCapacity = 4096
    private var output: UnsafeMutablePointer<UInt8>
    private var capacity = 1024

    private static let limit = 0xD800
    private static let together = UInt32.max

    init(_ options: PredicateNode.Options) {
        self.options = options
        ascii = ASCIIFoldings(options)
        known = .allocate(capacity: Self.limit)
        known.initialize(repeating: 0, count: Self.limit)
        bytes = .allocate(capacity: byteCapacity + Self.slack)
        output = .allocate(capacity: capacity)
    }

    deinit {
        known.deallocate()
        bytes.deallocate()
        output.deallocate()
    }

    // MARK: Kept ones

    private static let kept = Mutex<[FoldedScalars]>([])
    /// The most instances that are kept. Threads of a parallel scan have one each.
    private static let keptMax = 8
    private static let keptCapacityMax = 1 << 16

    /// An instance for exclusive use.
    static func taken(_ options: PredicateNode.Options) -> FoldedScalars {
        kept.withLock { list in
            list.lastIndex { $0.options == options }.map { list.remove(at: $0) }
        } ?? FoldedScalars(options)
    }

    /// - Precondition: the caller no longer uses it.
    func giveBack() {
        guard capacity <= Self.keptCapacityMax else { return }
        Self.kept.withLock { list in
            if list.count == Self.keptMax { list.removeFirst() }
            list.append(self)
        }
    }

    // MARK: Texts

    /// Whether the folded text may contain an ASCII byte. Folds nothing.
    @inline(__always)
    func mayHave(_ byte: UInt8, _ text: UnsafeRawBufferPointer) -> Bool { ascii.mayHave(byte, text) }

    /// Reading always copies four bytes, so the buffer must extend beyond its last folding.
    private static let slack = 4

    /// The most bytes to which a letter of two or three bytes may fold.
    private static let foldedMax = 15

    /// - Returns: the folded text, valid until the next call; nil if the text must be folded as a whole.
    func folded(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if (text.count &+ 1) &* Self.foldedMax > capacity {
            output.deallocate()
            capacity = (text.count + 1) * Self.foldedMax
            output = .allocate(capacity: capacity)
        }
        let output = output, known = known
        var end = 0
        let lowers = options.contains(.caseInsensitive)
        var at = 0
        while at < text.count {
            let first = text[at]
            if first < 0x80 {
                if let word = ASCIIText.word(text, at: at) {
                    let ascii = min((word & ASCIIText.highBits).trailingZeroBitCount / 8, text.count &- at)
                    let folded = lowers ? ASCIIText.loweredStart(word) : word
                    UnsafeMutableRawPointer(output + end).storeBytes(of: folded.littleEndian, as: UInt64.self)
                    end &+= ascii
                    at &+= ascii
                    continue
                }
                output[end] = lowers && first >= 0x41 && first <= 0x5A ? first | 0x20 : first
                end &+= 1
                at &+= 1
                continue
            }
            // The caller folds all other texts as a whole.
            guard let letter = ShortScalar(text, at: at), letter.value < Self.limit else { return nil }
            var entry = known[Int(letter.value)]
            if entry == 0 { entry = learn(letter.value) }
            guard entry != Self.together else { return nil }
            let folded = UnsafeRawPointer(bytes + Int(entry >> 4)), count = Int(entry & 15)
            // Four bytes are enough for most letters, and both buffers have room for them.
            UnsafeMutableRawPointer(output + end).storeBytes(of: folded.loadUnaligned(as: UInt32.self), as: UInt32.self)
            if count > 4 { UnsafeMutableRawPointer(output + end).copyMemory(from: folded, byteCount: count) }
            end &+= count
            at &+= letter.size
        }
        return UnsafeRawBufferPointer(start: output, count: end)
    }

    private func learn(_ value: UInt32) -> UInt32 {
        var entry = Self.together
        if let scalar = Unicode.Scalar(value), Self.standsAlone(scalar) {
            let folded = Array(TextMatcher.fold(String(Character(scalar)), options).utf8)
            if folded.count <= Self.foldedMax {
                if byteCount + folded.count > byteCapacity { grow() }
                entry = UInt32(byteCount) << 4 | UInt32(folded.count)
                for byte in folded {
                    bytes[byteCount] = byte
                    byteCount += 1
                }
            }
        }
        known[Int(value)] = entry
        return entry
    }

    private func grow() {
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: byteCapacity * 2 + Self.slack)
        grown.update(from: bytes, count: byteCount)
        bytes.deallocate()
        bytes = grown
        byteCapacity *= 2
    }

    private static func standsAlone(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format, .control, .unassigned: return false
        default: break
        }
        // The parts of Hangul syllables combine.
        let isJamo = 0x1100...0x11FF ~= scalar.value || 0xA960...0xA97F ~= scalar.value || 0xD7B0...0xD7FF ~= scalar.value
        return properties.canonicalCombiningClass == .notReordered && !isJamo
    }
}

import RecordLog

/// A comparison of UTF-8 bytes that are already folded. It has no counted references, so that loops over many texts pay for none.
package struct TextComparison {
    package enum Kind {
        case order(ComparisonOperator)
        case contains, beginsWith, endsWith, like
    }

    let kind: Kind
    /// Owned by the matcher.
    let pattern: UnsafeRawBufferPointer
    /// nil for comparisons that do not search for the pattern.
    private let search: PatternSearch?

    init(_ kind: Kind, _ pattern: UnsafeRawBufferPointer) {
        self.kind = kind
        self.pattern = pattern
        search = switch kind {
        case .order, .like: nil
        case .contains, .beginsWith, .endsWith: PatternSearch(pattern)
        }
    }

    /// An ASCII byte that every matching text contains, the rarest one; nil if there is none.
    var needed: UInt8? {
        search?.rarest.flatMap { ASCIIFoldings.bytes.contains($0) ? $0 : nil }
    }

    /// - Throws: `PredicateFault` if a pattern of LIKE takes too many steps.
    @inline(__always)
    func holds(_ text: UnsafeRawBufferPointer) throws -> Bool {
        switch kind {
        case .order(let comparison):
            switch comparison {
            case .equal: return text.count == pattern.count && KeyBytes.compare(text, pattern) == 0
            case .notEqual: return text.count != pattern.count || KeyBytes.compare(text, pattern) != 0
            default: return comparison.holds(KeyBytes.compare(text, pattern), 0)
            }
        case .contains: return search?.first(in: text) != nil
        case .beginsWith:
            guard text.count >= pattern.count else { return false }
            return KeyBytes.compare(UnsafeRawBufferPointer(rebasing: text.prefix(pattern.count)), pattern) == 0
        case .endsWith:
            guard text.count >= pattern.count else { return false }
            return KeyBytes.compare(UnsafeRawBufferPointer(rebasing: text.suffix(pattern.count)), pattern) == 0
        case .like: return try Self.like(text, pattern)
        }
    }

    /// `?` matches one character, `*` any number of them; a backslash makes the next character literal.
    /// Only the newest star is retried. The bytes read again may be a hundred times the text.
    /// - Throws: `PredicateFault` beyond that.
    private static func like(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) throws -> Bool {
        var at = 0, next = 0, star = -1, resume = 0
        var stepsLeft = 100_000 + 100 * text.count
        func isContinuation(_ index: Int) -> Bool { index < text.count && text[index] & 0xC0 == 0x80 }
        while at < text.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                star = next
                resume = at
                next += 1
            } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") {
                at += 1
                while isContinuation(at) { at += 1 }
                next += 1
            } else if next + 1 < pattern.count, pattern[next] == UInt8(ascii: "\\"), pattern[next + 1] == text[at] {
                at += 1
                next += 2
            } else if next < pattern.count, pattern[next] == text[at], pattern[next] != UInt8(ascii: "\\") {
                at += 1
                next += 1
            } else if star >= 0 {
                stepsLeft -= at - resume
                guard stepsLeft > 0 else {
                    throw PredicateFault(
                        reason: "The pattern of LIKE was given up on a text of \(text.count) bytes: it almost matches at too many positions.")
                }
                resume += 1
                while isContinuation(resume) { resume += 1 }
                at = resume
                next = star + 1
            } else {
                return false
            }
        }
        while next < pattern.count, pattern[next] == UInt8(ascii: "*") { next += 1 }
        return next == pattern.count
    }
}

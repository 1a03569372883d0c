import Foundation
import RecordLog

/// A text comparison, prepared once, that tests UTF-8 bytes.
struct TextMatcher {
    /// Refers to the bytes of `pattern`.
    private let comparison: TextComparison
    /// Replaces `comparison` if it is set.
    private let expression: RegularExpression?
    private let options: PredicateNode.Options
    /// Folded by the options.
    private let pattern: Pattern
    /// Whether texts are compared byte by byte, unfolded.
    private let isPlain: Bool
    /// An ASCII byte that every matching text contains after folding.
    private let needed: UInt8?
    /// Answers for many texts without folding them; nil where the comparison or the pattern does not allow that. Refers to the bytes of `pattern`.
    private let search: ASCIISearch?

    private final class Pattern {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ text: String) {
            bytes = .allocate(byteCount: text.utf8.count, alignment: 1)
            bytes.copyBytes(from: text.utf8)
        }

        deinit {
            bytes.deallocate()
        }
    }

    init(kind: TextComparison.Kind, _ pattern: String, options: PredicateNode.Options) {
        self.init(kind, pattern, options.effective, nil)
    }

    private init(_ kind: TextComparison.Kind, _ pattern: String, _ options: PredicateNode.Options, _ expression: RegularExpression?) {
        self.expression = expression
        self.options = options
        self.pattern = Pattern(Self.fold(pattern, options))
        comparison = TextComparison(kind, UnsafeRawBufferPointer(self.pattern.bytes))
        isPlain = expression == nil && options.isEmpty
        needed = comparison.needed
        search = if case .contains = kind { ASCIISearch(comparison.pattern, ignoresCase: options.contains(.caseInsensitive)) } else { nil }
    }

    /// - Returns: nil for an operator that does not compare text.
    /// - Throws: `PredicateFault` for a regular expression that does not compile.
    init?(_ comparison: PredicateNode.Operator, _ pattern: String, options: PredicateNode.Options) throws {
        switch comparison {
        case .equal: self.init(kind: .order(.equal), pattern, options: options)
        case .notEqual: self.init(kind: .order(.notEqual), pattern, options: options)
        case .less: self.init(kind: .order(.less), pattern, options: options)
        case .lessOrEqual: self.init(kind: .order(.lessOrEqual), pattern, options: options)
        case .greater: self.init(kind: .order(.greater), pattern, options: options)
        case .greaterOrEqual: self.init(kind: .order(.greaterOrEqual), pattern, options: options)
        case .contains: self.init(kind: .contains, pattern, options: options)
        case .beginsWith: self.init(kind: .beginsWith, pattern, options: options)
        case .endsWith: self.init(kind: .endsWith, pattern, options: options)
        case .like: self.init(kind: .like, pattern, options: options)
        case .matches:
            self.init(.like, pattern, options.effective, try RegularExpression(pattern, options: options.effective))
        case .between, .isIn: return nil
        }
    }

    /// The comparison and its pattern; nil where texts are folded, or matched with a regular expression.
    var plainComparison: (kind: TextComparison.Kind, pattern: String)? {
        isPlain ? (comparison.kind, String(decoding: comparison.pattern, as: UTF8.self)) : nil
    }

    /// The cost of a comparison relative to that of two numbers.
    var weight: Int {
        if expression != nil { return 50 }
        return isPlain ? 2 : 4
    }

    static func fold(_ text: String, _ options: PredicateNode.Options) -> String {
        guard !options.isEmpty else { return text }
        var flags: String.CompareOptions = []
        if options.contains(.caseInsensitive) { flags.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { flags.insert(.diacriticInsensitive) }
        // Composed and decomposed forms of a letter are equal, except in a comparison without options, which compares bytes.
        let locale: Locale? = options.contains(.localeSensitive) ? .current : nil
        return composed(text.folding(options: flags, locale: locale))
    }

    /// Returns the text in its composed form.
    ///
    /// Foundation looks only at the last 16 bits of a scalar beyond the basic plane when a mark follows, and takes U+1176 for a vowel that it can
    /// compose. Both would make letters that are not in the text, so such scalars are composed apart from their neighbours.
    private static func composed(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value > 0xFFFF || $0.value == 0x1176 }) else {
            return text.precomposedStringWithCanonicalMapping
        }
        var result = "", part = String.UnicodeScalarView()
        var isBeyond = false
        for scalar in text.unicodeScalars {
            if isBeyond != (scalar.value > 0xFFFF) || scalar.value == 0x1176, !part.isEmpty {
                result += String(part).precomposedStringWithCanonicalMapping
                part.removeAll()
            }
            isBeyond = scalar.value > 0xFFFF
            part.append(scalar)
        }
        return result + String(part).precomposedStringWithCanonicalMapping
    }

    /// The options for folding letter by letter; nil if this comparison does not fold letter by letter.
    var foldingOptions: PredicateNode.Options? { isPlain || expression != nil || options.contains(.localeSensitive) ? nil : options }

    /// - Parameter folding: the learnt foldings, if many texts are compared.
    /// - Throws: `PredicateFault` if a regular expression takes too many steps.
    @inline(__always)
    func matches(_ text: UnsafeRawBufferPointer, _ folding: FoldedScalars? = nil) throws -> Bool {
        try withExtendedLifetime((pattern, folding)) { try unownedMatches(text, folding.map(Unmanaged.passUnretained), isCandidate: false) }
    }

    /// As `matches`, for loops over many texts: the caller keeps the matcher and the foldings alive, and no reference is counted.
    /// - Parameter isCandidate: whether an index has found the text, so that it most probably has the letters of the pattern.
    @inline(__always)
    func unownedMatches(_ text: UnsafeRawBufferPointer, _ folding: Unmanaged<FoldedScalars>?, isCandidate: Bool) throws -> Bool {
        if isPlain { return try comparison.holds(text) }
        if let folding {
            if !isCandidate, let needed, !folding._withUnsafeGuaranteedRef({ $0.mayHave(needed, text) }) { return false }
            switch search?.answer(text) {
            case .found: return true
            case .absent: return false
            case .unknown, nil: break
            }
            if let folded = folding._withUnsafeGuaranteedRef({ $0.folded(text) }) { return try comparison.holds(folded) }
        }
        return try matchesWhole(text)
    }

    /// Folds the text as a whole.
    @inline(never)
    private func matchesWhole(_ text: UnsafeRawBufferPointer) throws -> Bool {
        let string = String(decoding: text, as: UTF8.self)
        if let expression {
            return try expression.matches(options.contains(.diacriticInsensitive) ? Self.fold(string, [.diacriticInsensitive]) : string)
        }
        if options.contains(.localeSensitive), case .order(let order) = comparison.kind { return matchesLocally(string, order) }
        return try Self.withWholeFolded(text, options) { try comparison.holds($0) }
    }

    /// Calls `body` with a text that is folded as a whole.
    static func withWholeFolded(
        _ text: UnsafeRawBufferPointer, _ options: PredicateNode.Options, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        if !options.contains(.localeSensitive),
            let found = try ASCIIText.withLowered(text, isLowered: options.contains(.caseInsensitive), body)
        {
            return found
        }
        return try Array(fold(String(decoding: text, as: UTF8.self), options).utf8).withUnsafeBytes(body)
    }

    func matches(_ text: String) throws -> Bool {
        var text = text
        return try text.withUTF8 { try matches(UnsafeRawBufferPointer($0)) }
    }

    /// Compares by the word order of the current locale.
    private func matchesLocally(_ text: String, _ comparison: ComparisonOperator) -> Bool {
        let order = Self.fold(text, options).compare(String(decoding: pattern.bytes, as: UTF8.self), locale: .current)
        return comparison.holds(order.rawValue, 0)
    }
}

import Foundation
import RecordLog

/// One text comparison, made ready once: tests UTF-8 bytes.
struct TextMatcher {
    enum Kind {
        case order(ComparisonOperator)
        case contains, beginsWith, endsWith, like
        case matches(RegularExpression)
    }

    private let kind: Kind
    private let options: PredicateNode.Options
    /// Folded as the options say.
    private let pattern: [UInt8]
    /// Whether texts are compared byte by byte as they are.
    private let isPlain: Bool
    /// The place of the byte of the pattern that texts have least often.
    private let sought: Int

    init(kind: Kind, _ pattern: String, options: PredicateNode.Options) {
        self.kind = kind
        self.options = options.effective
        self.pattern = Array(Self.fold(pattern, options.effective).utf8)
        if case .matches = kind { isPlain = false } else { isPlain = options.effective.isEmpty }
        if case .contains = kind { sought = ASCIIText.rarest(self.pattern) } else { sought = 0 }
    }

    /// - Returns: nil for an operator that compares no text.
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
            let expression = try RegularExpression(pattern, options: options.effective)
            self.init(kind: .matches(expression), pattern, options: options)
        case .between, .isIn: return nil
        }
    }

    /// What a comparison costs beside that of two numbers.
    var weight: Int {
        if case .matches = kind { return 50 }
        return isPlain ? 2 : 4
    }

    static func fold(_ text: String, _ options: PredicateNode.Options) -> String {
        guard !options.isEmpty else { return text }
        var flags: String.CompareOptions = []
        if options.contains(.caseInsensitive) { flags.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { flags.insert(.diacriticInsensitive) }
        // Composed and decomposed forms of a letter are the same but to a comparison without options, which goes by bytes.
        let locale: Locale? = options.contains(.localeSensitive) ? .current : nil
        return text.folding(options: flags, locale: locale).precomposedStringWithCanonicalMapping
    }

    /// - Parameter scope: where many texts are compared: what is learnt of letters there.
    /// - Throws: `PredicateFault` where a regular expression takes too many steps.
    func matches(_ text: UnsafeRawBufferPointer, _ scope: QueryScope? = nil) throws -> Bool {
        if isPlain { return try matchesFolded(text) }
        if case .matches(let expression) = kind {
            let string = String(decoding: text, as: UTF8.self)
            return try expression.matches(options.contains(.diacriticInsensitive) ? Self.fold(string, [.diacriticInsensitive]) : string)
        }
        if options.contains(.localeSensitive) {
            if case .order(let comparison) = kind { return matchesLocally(String(decoding: text, as: UTF8.self), comparison) }
        } else if let found = try ASCIIText.withLowered(text, isLowered: options.contains(.caseInsensitive), { try matchesFolded($0) }) {
            return found
        } else if let found = try scope?.folding(options).withFolded(text, { try matchesFolded($0) }) {
            return found
        }
        return try Array(Self.fold(String(decoding: text, as: UTF8.self), options).utf8).withUnsafeBytes { try matchesFolded($0) }
    }

    func matches(_ text: String) throws -> Bool {
        var text = text
        return try text.withUTF8 { try matches(UnsafeRawBufferPointer($0)) }
    }

    /// By the order of words in the current locale.
    private func matchesLocally(_ text: String, _ comparison: ComparisonOperator) -> Bool {
        let order = Self.fold(text, options).compare(String(decoding: pattern, as: UTF8.self), locale: .current)
        return comparison.holds(order.rawValue, 0)
    }

    private func matchesFolded(_ text: UnsafeRawBufferPointer) throws -> Bool {
        try pattern.withUnsafeBytes { pattern in
            switch kind {
            case .order(let comparison):
                switch comparison {
                case .equal: return text.count == pattern.count && KeyBytes.compare(text, pattern) == 0
                case .notEqual: return text.count != pattern.count || KeyBytes.compare(text, pattern) != 0
                default: return comparison.holds(KeyBytes.compare(text, pattern), 0)
                }
            case .contains: return contains(text, pattern)
            case .beginsWith:
                guard text.count >= pattern.count else { return false }
                return KeyBytes.compare(UnsafeRawBufferPointer(rebasing: text.prefix(pattern.count)), pattern) == 0
            case .endsWith:
                guard text.count >= pattern.count else { return false }
                return KeyBytes.compare(UnsafeRawBufferPointer(rebasing: text.suffix(pattern.count)), pattern) == 0
            case .like: return try Self.like(text, pattern)
            case .matches: return false
            }
        }
    }

    private func contains(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
        guard let base = text.baseAddress, let wanted = pattern.baseAddress, pattern.count > 0 else { return pattern.isEmpty }
        guard text.count >= pattern.count else { return false }
        let byte = Int32(pattern[sought])
        var at = 0
        let last = text.count &- pattern.count
        while at <= last {
            guard let found = memchr(base + (at &+ sought), byte, last &- at &+ 1) else { return false }
            at = base.distance(to: UnsafeRawPointer(found)) &- sought
            if memcmp(base + at, wanted, pattern.count) == 0 { return true }
            at &+= 1
        }
        return false
    }

    /// `?` stands for one character, `*` for any number of them; a backslash takes the next character as it is.
    /// The newest star alone is tried again; what is read anew in doing so may come to a hundred times the text.
    /// - Throws: `PredicateFault` where it comes to more.
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
                        reason: "The pattern of LIKE was given up on a text of \(text.count) bytes: it almost matches in too many places.")
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

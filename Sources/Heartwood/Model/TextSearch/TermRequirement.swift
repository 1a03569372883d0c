/// A condition on the terms of a text.
enum TermRequirement: Hashable {
    /// The text has this term.
    case term([UInt8])
    /// The text has a term that starts with these bytes.
    case prefix([UInt8])
}

/// The terms that every match of a comparison has. Other texts may have them too, so a match is still tested.
struct TermRequirements {
    private(set) var list: [TermRequirement] = []

    /// A long pattern names more trigrams than narrow the search.
    private static let trigramsMax = 16

    /// - Returns: nil for a comparison whose matches need no term.
    init?(_ comparison: PredicateNode.Operator, _ pattern: String, options: PredicateNode.Options) {
        let options = options.effective
        switch comparison {
        // The word order of a locale finds more equal texts than folding does.
        case .equal:
            guard !options.contains(.localeSensitive) else { return nil }
            add(Self.letters(pattern), atStart: true, atEnd: true)
        case .contains: add(Self.letters(TextMatcher.fold(pattern, options)))
        case .beginsWith: add(Self.letters(TextMatcher.fold(pattern, options)), atStart: true)
        case .endsWith: add(Self.letters(TextMatcher.fold(pattern, options)), atEnd: true)
        case .like:
            let pieces = LikeLiterals(TextMatcher.fold(pattern, options)).pieces
            for (index, piece) in pieces.enumerated() {
                add(Self.letters(piece), atStart: index == 0, atEnd: index == pieces.count - 1)
            }
        case .matches:
            // The whole text is matched without diacritics by a pattern without diacritics.
            let source = options.contains(.diacriticInsensitive) ? TextMatcher.fold(pattern, [.diacriticInsensitive]) : pattern
            for literal in ExpressionLiterals(source).literals { add(Self.letters(literal)) }
        case .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .isIn: return nil
        }
        guard !list.isEmpty else { return nil }
    }

    /// Returns the letters of a text in an index.
    static func letters(_ text: String) -> [UInt64] {
        var result: [UInt64] = []
        for scalar in text.unicodeScalars {
            var left = ScalarFoldings.folding(of: scalar.value).letters
            while left != 0 {
                result.append(left & ScalarFolding.mask)
                left >>= 21
            }
        }
        return result
    }

    private mutating func add(_ letters: [UInt64], atStart: Bool = false, atEnd: Bool = false) {
        guard !letters.isEmpty || atStart && atEnd else { return }
        let all = (atStart ? [TextTerms.start] : []) + letters + (atEnd ? [TextTerms.end] : [])
        guard all.count > 2 else {
            // The last letter of a text stands alone beside the end; any other one begins a trigram.
            return insert(atEnd ? .term(Self.bytes(all[...])) : .prefix(Self.bytes(all[...])))
        }
        let count = all.count - 2
        let step = max(1, (count + Self.trigramsMax - 1) / Self.trigramsMax)
        for index in stride(from: 0, to: count, by: step) { insert(.term(Self.bytes(all[index..<index + 3]))) }
        if step > 1 { insert(.term(Self.bytes(all[(count - 1)...]))) }
    }

    private mutating func insert(_ requirement: TermRequirement) {
        if !list.contains(requirement) { list.append(requirement) }
    }

    private static func bytes(_ letters: ArraySlice<UInt64>) -> [UInt8] {
        var bytes: [UInt8] = []
        for letter in letters {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4) { buffer in
                guard let base = buffer.baseAddress else { return }
                bytes.append(contentsOf: buffer[..<UTF8Scalar.encode(UInt32(letter), to: base)])
            }
        }
        return bytes
    }
}

/// The literal pieces of a pattern of LIKE.
struct LikeLiterals {
    /// The text before the first wildcard, between wildcards, and behind the last one. At least one piece; a piece may be empty.
    private(set) var pieces: [String] = []

    init(_ pattern: String) {
        var piece = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                piece.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "*" || scalar == "?" {
                pieces.append(String(piece))
                piece = String.UnicodeScalarView()
            } else {
                piece.append(scalar)
            }
        }
        // Nothing matches a pattern that ends with a backslash.
        pieces.append(String(piece))
    }
}

/// The literals that every match of a regular expression contains. It reads the common syntax; for anything else it finds none.
struct ExpressionLiterals {
    private(set) var literals: [String] = []

    private static let classLetters = Set("dDwWsSbBAzZGhHvVRXtnrfae".unicodeScalars)
    private static let syntax = Set("\\|.^$*+?()[]{}#".unicodeScalars)

    init(_ pattern: String) {
        let scalars = Array(pattern.unicodeScalars)
        var run = String.UnicodeScalarView()
        var found: [String] = []
        func endRun() {
            if !run.isEmpty { found.append(String(run)) }
            run = String.UnicodeScalarView()
        }
        var index = 0, depth = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            var literal: Unicode.Scalar?
            switch scalar {
            case "(":
                endRun()
                if index < scalars.count, scalars[index] == "?" {
                    // Flags, look-around and comments change the meaning of the rest.
                    guard index + 1 < scalars.count, scalars[index + 1] == ":" else { return }
                    index += 2
                }
                depth += 1
            case ")":
                endRun()
                depth -= 1
                if depth < 0 { return }
            case "[":
                endRun()
                guard let end = Self.classEnd(scalars, index) else { return }
                index = end
            case "|":
                // Alternatives inside a group concern only the group, whose literals are not used.
                if depth == 0 { return }
                endRun()
            case ".", "^", "$", "*", "+", "?", "{", "}", "#": endRun()
            case "\\":
                guard index < scalars.count else { return }
                let next = scalars[index]
                index += 1
                if Self.classLetters.contains(next) { endRun() }
                else if Self.syntax.contains(next) || "-/ ".unicodeScalars.contains(next) { literal = next }
                else { return }
            default: literal = scalar
            }
            guard let literal else { continue }
            let next = index < scalars.count ? scalars[index] : nil
            let isOptional = next == "*" || next == "?" || next == "{"
            // A literal in a group, or one that is not needed, ends the run.
            guard depth == 0, !isOptional, Self.isStable(literal) else {
                endRun()
                continue
            }
            run.append(literal)
            if next == "+" { endRun() }
        }
        guard depth == 0 else { return }
        endRun()
        literals = found
    }

    /// Returns the index behind a class of characters; nil for one with classes or quotes inside.
    private static func classEnd(_ scalars: [Unicode.Scalar], _ start: Int) -> Int? {
        var index = start
        if index < scalars.count, scalars[index] == "^" { index += 1 }
        // A bracket that comes first may be a member or end an empty class.
        if index < scalars.count, scalars[index] == "]" { return nil }
        while index < scalars.count {
            switch scalars[index] {
            case "]": return index + 1
            case "[", "&": return nil
            case "\\":
                guard index + 1 < scalars.count, scalars[index + 1] != "Q" else { return nil }
                index += 2
            default: index += 1
            }
        }
        return nil
    }

    /// Whether a regular expression that ignores case matches the scalar only with texts that have its letters.
    private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        // Ignoring case, the mark U+0345 and letters with it match an iota.
        guard scalar.value != 0x3B9, scalar.value != 0x399, scalar.value != 0x345 else { return false }
        return scalar.properties.canonicalCombiningClass == .notReordered
    }
}

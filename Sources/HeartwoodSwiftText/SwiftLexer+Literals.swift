extension SwiftLexer {
    /// A string, or the code of an interpolation in one.
    private enum Nesting {
        case string(hashes: Int, isLong: Bool)
        case code(parentheses: Int)
    }

    /// Skips a string whose first quote is here, with its interpolations and the strings in them.
    mutating func skipString(hashes: Int) {
        interpolations.removeAll(keepingCapacity: true)
        var nesting = [openString(hashes: hashes)]
        while let inner = nesting.last, position < bytes.count {
            switch inner {
            case .string(let hashes, let isLong):
                switch step(hashes: hashes, isLong: isLong) {
                case .goOn: break
                case .end: nesting.removeLast()
                case .interpolation:
                    if nesting.count == 1 { interpolations.append((position + 1..<bytes.count, line)) }
                    nesting.append(.code(parentheses: 0))
                }
            case .code(let parentheses):
                let depth: Int
                switch bytes[position] {
                case UInt8(ascii: "("): depth = parentheses + 1
                case UInt8(ascii: ")"): depth = parentheses - 1
                case UInt8(ascii: "\""):
                    nesting.append(openString(hashes: hashesBefore))
                    continue
                default: depth = parentheses
                }
                advance()
                if depth == 0 { nesting.removeLast() } else { nesting[nesting.count - 1] = .code(parentheses: depth) }
                if nesting.count == 1, let last = interpolations.indices.last {
                    interpolations[last].range = interpolations[last].range.lowerBound..<position - 1
                }
            }
        }
    }

    private var hashesBefore: Int {
        var count = 0
        while position > count, bytes[position - count - 1] == UInt8(ascii: "#") { count += 1 }
        return count
    }

    private mutating func openString(hashes: Int) -> Nesting {
        let quote = UInt8(ascii: "\"")
        let isLong = peek(1) == quote && peek(2) == quote
        position += isLong ? 3 : 1
        return .string(hashes: hashes, isLong: isLong)
    }

    private enum Step { case goOn, end, interpolation }

    private mutating func step(hashes: Int, isLong: Bool) -> Step {
        let quote = UInt8(ascii: "\"")
        let byte = bytes[position]
        if byte == UInt8(ascii: "\\"), hasHashes(hashes, at: 1) {
            position += 1 + hashes
            if peek() == UInt8(ascii: "(") { return .interpolation }
            advance()
        } else if byte == quote, !isLong || peek(1) == quote && peek(2) == quote, hasHashes(hashes, at: isLong ? 3 : 1) {
            position += (isLong ? 3 : 1) + hashes
            return .end
        } else if !isLong, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
            return .end
        } else {
            advance()
        }
        return .goOn
    }

    private func hasHashes(_ count: Int, at offset: Int) -> Bool {
        for index in 0..<count where peek(offset + index) != UInt8(ascii: "#") { return false }
        return true
    }

    // MARK: Regular expressions

    /// Skips `#/…/#`. It may span lines only where a line break follows its first slash; then an unclosed one goes to the end of the text.
    /// - Returns: whether it is one.
    mutating func skipRawPattern(hashes: Int) -> Bool {
        let start = (position, line)
        position += hashes + 1
        let isLong = peek() == UInt8(ascii: "\n") || peek() == UInt8(ascii: "\r")
        while position < bytes.count, isLong || bytes[position] != UInt8(ascii: "\n") {
            if bytes[position] == UInt8(ascii: "/"), hasHashes(hashes, at: 1) {
                position += 1 + hashes
                return true
            }
            advance()
        }
        if isLong { return true }
        (position, line) = start
        return false
    }

    /// The end of a `/…/` literal that starts here; nil where the slash is a division.
    var patternEnd: Int? {
        if let last, last.kind != .sign {
            guard last.kind == .word, Self.leadsToPattern(bytes[last.range]) else { return nil }
        } else if let last {
            switch bytes[last.start] {
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "!"): return nil
            default: break
            }
        }
        var index = position + 1
        guard index < bytes.count, ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "/")].contains(bytes[index]) else { return nil }
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            if bytes[index] == UInt8(ascii: "/") { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private static func leadsToPattern(_ word: ArraySlice<UInt8>) -> Bool {
        switch String(decoding: word, as: UTF8.self) {
        case "return", "case", "in", "if", "while", "where", "try", "await", "else", "throw": return true
        default: return false
        }
    }
}

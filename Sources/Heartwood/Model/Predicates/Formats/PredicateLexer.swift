/// Splits a predicate format into tokens.
struct PredicateLexer {
    enum Token: Equatable {
        case word(String)
        /// An identifier that must not be read as a keyword (`#name`).
        case quotedWord(String)
        case text(String)
        case number(String)
        /// `%@`, `%K`, `%d`, …: the letters behind the percent sign.
        case argument(String)
        case variable(String)
        case symbol(String)
        case end
    }

    // Scalars, since a combining character behind a quote would form one Character with it.
    private let scalars: [Unicode.Scalar]
    private let format: String
    private var at = 0
    private(set) var token = Token.end {
        didSet { if case .word(let word) = token { keyword = word.uppercased() } else { keyword = "" } }
    }
    /// The current token in capitals if it is a word, otherwise empty; for comparison with keywords.
    private(set) var keyword = ""
    /// The position of the current token's start.
    private(set) var position = 0

    init(_ format: String) throws {
        self.format = format
        scalars = Array(format.unicodeScalars)
        try advance()
    }

    func failure(_ message: String, at offset: Int? = nil) -> PredicateFormatError {
        PredicateFormatError(format: format, position: min(offset ?? position, scalars.count), message: message)
    }

    private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
        at + ahead < scalars.count ? scalars[at + ahead] : nil
    }

    mutating func advance() throws {
        while let next = peek(), next.value <= 0x20 || next.value > 0x7F, next.properties.isWhitespace { at += 1 }
        position = at
        guard let next = peek() else {
            token = .end
            return
        }
        switch next {
        case "'", "\"": token = .text(try text(next))
        case "%": token = try argument()
        case "$":
            at += 1
            token = .variable(word())
            if token == .variable("") { throw failure("a variable's name is missing after the dollar sign") }
        case "#":
            at += 1
            token = .quotedWord(word())
        case _ where Self.isDigit(next) || next == "." && (peek(1).map(Self.isDigit) ?? false): token = .number(number())
        case _ where Self.isWord(next): token = .word(word())
        default: token = try symbol()
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar >= "0" && scalar <= "9" }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x80 {
            return scalar >= "a" && scalar <= "z" || scalar >= "A" && scalar <= "Z" || isDigit(scalar) || scalar == "_" || scalar == "@"
        }
        return scalar.properties.isXIDContinue
    }

    /// A colon belongs to the word, as in the function name `modulus:by:`.
    private mutating func word() -> String {
        var result = String.UnicodeScalarView()
        while let next = peek(), Self.isWord(next) || next == ":" && peek(1) != "=" && !result.isEmpty {
            result.append(next)
            at += 1
        }
        return String(result)
    }

    private mutating func text(_ quote: Unicode.Scalar) throws -> String {
        var result = String.UnicodeScalarView()
        at += 1
        while let next = peek() {
            at += 1
            if next == quote { return String(result) }
            guard next == "\\" else {
                result.append(next)
                continue
            }
            guard let escaped = peek() else { break }
            at += 1
            switch escaped {
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "r": result.append("\r")
            case "b": result.append("\u{8}")
            case "f": result.append("\u{C}")
            case "v": result.append("\u{B}")
            case "x": result.append(try scalar(digits: 2))
            case "u": result.append(try scalar(digits: 4))
            case "U": result.append(try scalar(digits: 8))
            default: result.append(escaped)
            }
        }
        throw failure("the string that starts here does not end")
    }

    private mutating func scalar(digits: Int) throws -> Unicode.Scalar {
        let start = at - 2
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let next = peek(), next.isASCII, let digit = Character(next).hexDigitValue else {
                throw failure("this escape needs \(digits) hexadecimal digits", at: start)
            }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        guard let scalar = Unicode.Scalar(value) else { throw failure("this escape is no character", at: start) }
        return scalar
    }

    /// Takes everything that looks like part of a number. The parser decides whether it is one.
    private mutating func number() -> String {
        var result = String.UnicodeScalarView()
        let isPrefixed = peek() == "0" && ["x", "X", "o", "O", "b", "B"].contains(peek(1))
        while let next = peek() {
            let isSign = (next == "-" || next == "+") && !isPrefixed && (result.last == "e" || result.last == "E")
            guard isSign || next == "." && !isPrefixed || next != "@" && next.isASCII && Self.isWord(next) else { break }
            result.append(next)
            at += 1
        }
        return String(result)
    }

    private mutating func argument() throws -> Token {
        at += 1
        var letters = ""
        while let next = peek(), letters.count < 4 {
            letters.unicodeScalars.append(next)
            at += 1
            guard Self.lengths.contains(next) else { break }
        }
        if let last = letters.unicodeScalars.last, Self.conversions.contains(last), letters.count == 1 || last != "@" && last != "K" {
            return .argument(letters)
        }
        throw failure("\"%\(letters)\" is no argument; use %@, %K, or a conversion of C such as %d, %ld, %lu, %f or %s")
    }

    private static let lengths: Set<Unicode.Scalar> = ["h", "l", "q", "L", "z", "t", "j"]
    private static let conversions: Set<Unicode.Scalar> = [
        "@", "K", "d", "D", "i", "u", "U", "x", "X", "o", "O", "e", "E", "f", "F", "g", "G", "a", "A", "c", "C", "s", "S", "p",
    ]

    private static let pairs: Set<String> = ["==", "!=", "<>", "<=", "=<", ">=", "=>", "<<", ">>", "&&", "||", "**", ":="]
    private static let singles: Set<String> = [
        "(", ")", "{", "}", "[", "]", ",", ".", "=", "<", ">", "!", "-", "+", "*", "/", "&", "|", "^", "~",
    ]

    private mutating func symbol() throws -> Token {
        let first = String(Character(scalars[at]))
        if let next = peek(1), next.isASCII, !next.properties.isWhitespace {
            let pair = first + String(Character(next))
            if Self.pairs.contains(pair) {
                at += 2
                return .symbol(pair)
            }
        }
        guard Self.singles.contains(first) else { throw failure("\"\(scalars[at])\" means nothing here") }
        at += 1
        return .symbol(first)
    }
}

import Foundation

/// Why a format could not be parsed: what, where, and the format with the place marked.
struct PredicateFormatError: Error, CustomStringConvertible, LocalizedError {
    let format: String
    /// In characters.
    let position: Int
    let message: String

    var description: String {
        "Unable to parse the format string \"\(format)\": \(message), at character \(position + 1), marked here: "
            + "\(format.prefix(position))⟪here⟫\(format.dropFirst(position))"
    }

    var errorDescription: String? { description }
}

/// Cuts a predicate format into tokens.
struct PredicateLexer {
    enum Token: Equatable {
        case word(String)
        /// An identifier that is not to be read as a keyword (`#name`).
        case quotedWord(String)
        case text(String)
        case number(String)
        /// `%@`, `%K`, `%d`, …: the letters after the percent sign.
        case argument(String)
        case variable(String)
        case symbol(String)
        case end
    }

    private let characters: [Character]
    private let format: String
    private var at = 0
    private(set) var token = Token.end
    /// Where the current token starts.
    private(set) var position = 0

    init(_ format: String) throws {
        self.format = format
        characters = Array(format)
        try advance()
    }

    func failure(_ message: String, at place: Int? = nil) -> PredicateFormatError {
        PredicateFormatError(format: format, position: min(place ?? position, characters.count), message: message)
    }

    private func peek(_ ahead: Int = 0) -> Character? {
        at + ahead < characters.count ? characters[at + ahead] : nil
    }

    mutating func advance() throws {
        while let next = peek(), next.isWhitespace { at += 1 }
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
        case "#":
            at += 1
            token = .quotedWord(word())
        case _ where next.isLetter || next == "_" || next == "@": token = .word(word())
        case _ where next.isNumber || next == "." && (peek(1)?.isNumber ?? false): token = .number(try number())
        default: token = try symbol()
        }
    }

    private mutating func word() -> String {
        var result = ""
        while let next = peek(), next.isLetter || next.isNumber || next == "_" || next == "@" {
            result.append(next)
            at += 1
        }
        return result
    }

    private mutating func text(_ quote: Character) throws -> String {
        var result = ""
        at += 1
        while let next = peek() {
            at += 1
            if next == quote { return result }
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
            default: result.append(escaped)
            }
        }
        throw failure("the string that starts here does not end")
    }

    private mutating func number() throws -> String {
        var result = ""
        while let next = peek(), next.isNumber || next == "." || next == "e" || next == "E" || next == "x"
            || (next == "-" || next == "+") && (result.hasSuffix("e") || result.hasSuffix("E")) || next.isHexDigit && result.hasPrefix("0x")
        {
            result.append(next)
            at += 1
        }
        return result
    }

    private mutating func argument() throws -> Token {
        at += 1
        var letters = ""
        while let next = peek(), letters.count < 3 {
            letters.append(next)
            at += 1
            if Self.conversions.contains(letters) { return .argument(letters) }
        }
        throw failure("\"%\(letters)\" is no argument; use one of \(Self.conversions.sorted().map { "%\($0)" }.joined(separator: " "))")
    }

    private static let conversions: Set<String> = [
        "@", "K", "d", "i", "u", "f", "s", "ld", "li", "lu", "lf", "lld", "lli", "llu", "hd", "hu",
    ]

    private static let symbols = ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "(", ")", "{", "}", "[", "]", ",", ".", "=", "<", ">", "!", "-", "+"]

    private mutating func symbol() throws -> Token {
        for symbol in Self.symbols where characters[at...].starts(with: symbol) {
            at += symbol.count
            return .symbol(symbol)
        }
        throw failure("\"\(characters[at])\" means nothing here")
    }
}

/// A word, a sign or a literal of Swift text. Comments and spaces are no tokens.
package struct SwiftToken: Sendable {
    package enum Kind: Sendable {
        /// An identifier, a keyword or a number.
        case word
        /// An identifier in backticks.
        case quotedWord
        /// `@` with its word.
        case attribute
        /// `#` with its word: a directive or a freestanding macro.
        case directive
        /// A string with its delimiters and interpolations.
        case string
        /// A regular expression with its slashes.
        case pattern
        /// One character that is none of these. An operator of several characters is as many tokens.
        case sign
    }

    package let kind: Kind
    /// Whether the token is the first in its line.
    package let startsLine: Bool
    /// Whether a space, a line break or a comment is before it.
    package let followsSpace: Bool
    /// The first byte.
    package let start: Int
    /// The byte after the last.
    package let end: Int
    /// The line of the first byte, from 1.
    package let line: Int

    package var range: Range<Int> { start..<end }
}

/// The reason why compressed bytes cannot be inflated, and the position in them.
package struct InflateFault: Error, Equatable {
    package enum Reason: Equatable, Sendable {
        case cutOff
        /// The two lengths of a stored block do not agree.
        case storedLength
        case blockKind
        /// A block states more symbols than there are.
        case symbolCount
        /// The lengths of a code's symbols fit no code: they are too many, or leave a gap.
        case codeLengths(Code)
        /// A repetition without a length before it, or beyond the last symbol.
        case repetition
        case noEnd
        case unknownSymbol(Code)
        case distance(Int, available: Int)
        /// The output would be longer than the caller allows.
        case tooLong(sizeMax: Int)
    }

    package enum Code: String, Equatable, Sendable { case codeLength = "code lengths", literal = "literals and lengths", distance = "distances" }

    package let reason: Reason
    /// In bits from the start of the bytes. A byte's lowest bit comes first.
    package let bit: Int

    package var byte: Int { bit / 8 }

    /// The end of a sentence about the bytes: "are cut off, at byte 7 (bit 3)".
    package var text: String { "\(Self.text(reason)), at byte \(byte) (bit \(bit % 8))" }

    private static func text(_ reason: Reason) -> String {
        switch reason {
        case .cutOff: "are cut off"
        case .storedLength: "have a stored block whose two lengths differ"
        case .blockKind: "have a block of an unknown kind"
        case .symbolCount: "have a block with more symbols than there are"
        case .codeLengths(let code): "have lengths that make no code of \(code.rawValue)"
        case .repetition: "repeat a code's length where there is none"
        case .noEnd: "have a block without a code for its end"
        case .unknownSymbol(let code): "have a code that is none of the block's \(code.rawValue)"
        case .distance(let distance, let available): "refer \(distance) bytes back, and only \(available) are there"
        case .tooLong(let sizeMax): "hold more than \(sizeMax) bytes"
        }
    }
}

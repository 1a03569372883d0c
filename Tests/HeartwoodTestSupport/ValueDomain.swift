/// The source of random values for tests.
///
/// Each state is frequent, so that two attributes of one object meet in all pairs of states. Of 100 draws 30 give null, 10 the old value, 12 an
/// empty one, 24 a short one, 12 a long one, and 12 one at an end of its type.
package struct ValueDomain: Sendable {
    package enum Kind: Hashable, Sendable {
        case flag, integer(bits: Int), double, uuid, text, bytes
    }

    /// The relation of a value to the old value and to its type.
    package enum State: Sendable {
        case nothing, same, empty, short, long, extreme

        package static func draw(_ random: inout SeededGenerator) -> State {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30: .nothing
            case 30..<40: .same
            case 40..<52: .empty
            case 52..<76: .short
            case 76..<88: .long
            default: .extreme
            }
        }
    }

    /// The most bytes of a text or data.
    package let longest: Int

    /// - Parameter longest: the end offsets of a row have one byte if all variable columns together have up to 255 bytes, two up to 65,535, then
    ///   four.
    package init(longest: Int) {
        self.longest = longest
    }

    /// For end offsets of one byte and two.
    package static let short = ValueDomain(longest: 300)
    /// For end offsets of four bytes, and for data in frames of its own.
    package static let long = ValueDomain(longest: 70_000)

    /// Whether a draw gives null; for to-one relationships, which have no value.
    package static func isNothing(_ random: inout SeededGenerator) -> Bool { Int.random(in: 0..<100, using: &random) < 30 }

    /// - Parameter old: the old value.
    /// - Returns: nil for null.
    package func draw(_ kind: Kind, from old: SampleValue? = nil, _ random: inout SeededGenerator) -> SampleValue? {
        switch State.draw(&random) {
        case .nothing: nil
        case .same: old
        case let state: draw(kind, state, &random)
        }
    }

    /// A value that is not null.
    package func something(_ kind: Kind, _ random: inout SeededGenerator) -> SampleValue {
        draw(kind, [.empty, .short, .short, .long, .extreme].randomElement(using: &random) ?? .short, &random)
    }

    /// - Parameter state: `nothing` and `same` give a short value.
    package func draw(_ kind: Kind, _ state: State, _ random: inout SeededGenerator) -> SampleValue {
        switch kind {
        case .flag: return .flag(state != .empty && Bool.random(using: &random))
        case .integer(let bits): return .integer(Self.integer(bits, state, &random))
        case .double: return .double(Self.double(state, &random))
        case .uuid:
            if state == .extreme { return Bool.random(using: &random) ? .uuid(.max, .max) : .uuid(1 << 63, 1) }
            return state == .empty ? .uuid(0, 0) : .uuid(random.next(), random.next())
        case .text: return .text(text(state, &random))
        case .bytes: return .bytes(bytes(state, &random))
        }
    }

    private static func integer(_ bits: Int, _ state: State, _ random: inout SeededGenerator) -> Int64 {
        let most = Int64.max >> Int64(64 - bits)
        switch state {
        case .empty: return 0
        case .long: return Int64.random(in: -most...most, using: &random)
        case .extreme: return [most, -most - 1, most - 1, -most, -1, min(256, most)].randomElement(using: &random) ?? most
        default: return Int64.random(in: -3...3, using: &random)
        }
    }

    private static func double(_ state: State, _ random: inout SeededGenerator) -> Double {
        switch state {
        case .empty: return 0
        case .long: return Double.random(in: -1e9...1e9, using: &random)
        case .extreme:
            let ends = [
                -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 9_007_199_254_740_992]
            return ends.randomElement(using: &random) ?? 0
        default: return Double(Int.random(in: -12...12, using: &random)) / 4
        }
    }

    private static let letters = ["a", "b", "c", "é", "\0", "z", "ß", "本", "😀"]
    private static let ends = ["\0", "\u{10FFFF}", " ", "\u{FFFD}", "ÿ\0", "\u{7F}", "\n"]

    private func text(_ state: State, _ random: inout SeededGenerator) -> String {
        switch state {
        case .empty: return ""
        case .extreme where Bool.random(using: &random): return Self.ends.randomElement(using: &random) ?? ""
        case .long, .extreme:
            let letter = Unicode.Scalar(UInt8.random(in: 0x61...0x7A, using: &random))
            return String(repeating: Character(letter), count: length(isExtreme: state == .extreme, &random))
        default: return (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.letters.randomElement(using: &random) ?? "a" }.joined()
        }
    }

    private func bytes(_ state: State, _ random: inout SeededGenerator) -> [UInt8] {
        let fill = UInt8.random(in: 0...255, using: &random)
        switch state {
        case .empty: return []
        case .long: return [UInt8](repeating: fill, count: length(isExtreme: false, &random))
        case .extreme: return Bool.random(using: &random) ? [fill] : [UInt8](repeating: fill, count: length(isExtreme: true, &random))
        default: return (0..<Int.random(in: 1...9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
    }

    /// Usually about the length at which end offsets take two bytes; at the ends also about the lengths of values in frames of their own, and of
    /// end offsets of four bytes.
    private func length(isExtreme: Bool, _ random: inout SeededGenerator) -> Int {
        let far = isExtreme ? [1024, 1025, 4096, 4097, 5000, 8161, 65_535, 65_536, 70_000].filter { $0 <= longest } : []
        if let length = far.randomElement(using: &random) { return length }
        return min(longest, [40, 85, 127, 128, 200, 254, 255, 256, 257, 300].randomElement(using: &random) ?? 40)
    }
}

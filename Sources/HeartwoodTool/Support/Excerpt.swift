/// The part of long values that a person sees in a terminal: the beginning of a text, the first members of a list, and how much more there is.
struct Excerpt {
    /// In characters.
    let textMax: Int
    let membersMax: Int

    /// As much as fits beside other values.
    static let line = Excerpt(textMax: 120, membersMax: 12)
    /// As much as fits on a screen.
    static let screen = Excerpt(textMax: 1000, membersMax: 20)
    static let full = Excerpt(textMax: .max, membersMax: .max)

    static let option = Parameter.flag("full", "shows all of each value and each list; without it their beginnings. JSON and CSV always have all")

    func text(_ text: String) -> String {
        // A character has at least one byte.
        guard text.utf8.count > textMax, let end = text.index(text.startIndex, offsetBy: textMax, limitedBy: text.endIndex), end < text.endIndex
        else { return text }
        return text[..<end] + Self.more(text.distance(from: end, to: text.endIndex))
    }

    /// The first members, and a last text for the others.
    func members(_ members: [String]) -> [String] {
        let more = members.count - membersMax
        return more > 0 ? members.prefix(membersMax) + [Self.more(more)] : members
    }

    static func more(_ count: Int) -> String { "… \(Output.number(count)) more" }
}

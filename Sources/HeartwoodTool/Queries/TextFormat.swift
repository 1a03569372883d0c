/// The forms in which a command writes what it found.
enum TextFormat: String, CaseIterable {
    case text, json

    static let option = Parameter.choice("format", TextFormat.self, "lines for people, or JSON for programs").or(.text)
}

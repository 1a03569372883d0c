/// The forms in which a command writes a list of differences or commits.
enum ListFormat: String, CaseIterable {
    case text, json, jsonl

    static let option = Parameter.choice("format", ListFormat.self, "lines for people, one JSON array, or an object a line").or(.text)
}

/// Work on text for which the standard library would look up types at its first call. Every process that opens a store would pay for that.
enum PlainText {
    /// Does the work of `joined(separator:)`.
    static func joined(_ parts: [String], by separator: String) -> String {
        var text = ""
        for (index, part) in parts.enumerated() {
            if index > 0 { text += separator }
            text += part
        }
        return text
    }
}

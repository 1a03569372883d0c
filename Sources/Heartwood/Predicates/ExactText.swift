/// A text that is equal to one of the same UTF-8 bytes alone, as texts are in stores and predicates. Swift's own equality takes composed
/// and decomposed forms of a letter as one.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (a: ExactText, b: ExactText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Ends it, where more is combined.
        hasher.combine(0xFF as UInt8)
    }
}

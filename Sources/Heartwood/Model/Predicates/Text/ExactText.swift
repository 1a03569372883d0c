import Foundation

/// A text that equals only texts with the same UTF-8 bytes, as in stores and predicates. Swift's own equality also treats composed and
/// decomposed forms of a letter as equal.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (a: ExactText, b: ExactText) -> Bool { a.text.hasSameBytes(as: b.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Ends the text, so that it cannot run into the next combined value. UTF-8 never has this byte.
        hasher.combine(0xFF as UInt8)
    }
}

extension String {
    /// Whether both have the same UTF-8 bytes, as fetches compare text. Swift's own equality also treats composed and decomposed forms as equal.
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let a = own.baseAddress, let b = others.baseAddress else { return own.isEmpty }
                return memcmp(a, b, own.count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

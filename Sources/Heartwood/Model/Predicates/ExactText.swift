import Foundation

/// A text that is equal to one of the same UTF-8 bytes alone, as texts are in stores and predicates. Swift's own equality takes composed
/// and decomposed forms of a letter as one.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (a: ExactText, b: ExactText) -> Bool { a.text.hasSameBytes(as: b.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Ends it, where more is combined.
        hasher.combine(0xFF as UInt8)
    }
}

extension String {
    /// Whether both are the same UTF-8: how fetches compare text. Swift's own equality takes composed and decomposed characters for the same.
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

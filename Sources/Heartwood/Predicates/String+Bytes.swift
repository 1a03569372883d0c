import Foundation

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

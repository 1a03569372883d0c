import Foundation

/// Why a predicate, a sort descriptor or a key path of Swift's cannot be asked of a store.
public struct PredicateTranslationError: Error, CustomStringConvertible, LocalizedError {
    /// What cannot be translated, and what to write instead.
    public let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
    public var errorDescription: String? { reason }
}

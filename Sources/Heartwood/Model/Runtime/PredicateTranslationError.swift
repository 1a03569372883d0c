import Foundation

/// The reason why a store cannot answer a Swift predicate, sort descriptor or key path.
public struct PredicateTranslationError: Error, CustomStringConvertible, LocalizedError {
    /// Names the part that cannot be translated, and an alternative.
    public let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
    public var errorDescription: String? { reason }
}

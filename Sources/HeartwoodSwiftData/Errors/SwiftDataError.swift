import Foundation
import Heartwood

/// Why SwiftData's interface refuses a call.
///
/// Two errors are equal if they are of the same kind, so that `error == .unsupportedPredicate` and `catch SwiftDataError.unsupportedPredicate`
/// work whatever explains them.
/// Source: https://developer.apple.com/documentation/swiftdata/swiftdataerror
public struct SwiftDataError: Error, Hashable, Sendable {
    enum Kind: String, Sendable {
        case includePendingChangesWithBatchSize, unsupportedPredicate, unsupportedKeyPath, sortingPendingChangesWithIdentifiers
        case unsupportedSortDescriptor, duplicateConfiguration, configurationFileNameTooLong, configurationFileNameContainsInvalidCharacters
        case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer, modelValidationFailure, missingModelContext
        case backwardMigration, unknownSchema, historyTokenExpired, invalidTransactionFetchRequest, unknownDataStoreSchema
    }

    let kind: Kind
    /// What is wrong in this case, and what to do about it.
    public private(set) var explanation: String?
    /// The error below, such as the store's.
    public private(set) var underlying: (any Error)?

    private init(_ kind: Kind) { self.kind = kind }

    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(.configurationFileNameContainsInvalidCharacters)
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(.configurationSchemaNotFoundInContainerSchema)
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)
    public static let unknownDataStoreSchema = SwiftDataError(.unknownDataStoreSchema)

    public static func == (a: SwiftDataError, b: SwiftDataError) -> Bool { a.kind == b.kind }
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
    public static func ~= (a: SwiftDataError, b: any Error) -> Bool { (b as? SwiftDataError) == a }

    func because(_ explanation: String, underlying: (any Error)? = nil) -> SwiftDataError {
        var copy = self
        copy.explanation = explanation
        copy.underlying = underlying
        return copy
    }

    static func unreadable(_ property: ModelProperty, of object: ModelObject) -> SwiftDataError {
        let name = "\(object.entity.name ?? "").\(property.name)"
        return modelValidationFailure.because(
            "The store has no value of the type \(property.valueType) for \(name) of \(object.objectID.uriRepresentation()). Give the property a "
                + "default value, or make it optional.")
    }

    static func encodingFailure(_ error: any Error, _ property: String, of entity: String) -> SwiftDataError {
        modelValidationFailure.because("The value set for \(entity).\(property) cannot be encoded: \(error)", underlying: error)
    }
}

extension SwiftDataError: LocalizedError, CustomStringConvertible {
    public var description: String { "SwiftDataError.\(kind.rawValue)" + (explanation.map { ": \($0)" } ?? "") }
    public var errorDescription: String? { description }
}

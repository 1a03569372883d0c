import Foundation
import Heartwood

/// The counts of a conversion of an SQLite store, and a list of the values that it left out.
package struct ConversionReport: Equatable, Sendable {
    package struct EntityCount: Equatable, Sendable {
        package let name: String
        package let objects: Int
    }

    package let modelOrigin: String
    /// The reason why the model is guessed from the tables; nil if it is not.
    package let guessReason: String?
    /// Statements about what is not certain of the model.
    package let guesses: [String]
    /// Statements about references that may be meant otherwise.
    package let references: [String]
    /// The hashes of the version of the model that the store was made with.
    let versionHashes: [String: Data]
    /// The differences of the model to which the new store was migrated; nil if it has the old store's version.
    package internal(set) var migration: VersionDifference?
    /// The entities with objects, by name.
    package internal(set) var entities: [EntityCount] = []
    /// Pairs of relationships with a join table.
    package internal(set) var pairs = 0
    package internal(set) var dangling = StoreFindings()
    package internal(set) var missingFiles = StoreFindings()
    /// Rows of no entity that has objects.
    package internal(set) var unnamed = StoreFindings()
    /// Values that their attribute's type cannot hold as they are.
    package internal(set) var changed = StoreFindings()
    /// Objects with the values of a uniqueness constraint that others have.
    package internal(set) var repetitions = StoreFindings()
    /// Statements of `heartwood verify` about the new store: about values that the old store has too.
    package internal(set) var doubts = StoreFindings()
    /// The objects that a migration of the new store to the wanted version of the model leaves out.
    package internal(set) var dropped: [DroppedObjects.Entity] = []
    /// The transactions and the changes of the history; nil if the store has none.
    package internal(set) var history: History?
    package internal(set) var sourceBytes: UInt64 = 0
    /// nil if nothing was written.
    package internal(set) var bytes: UInt64?

    package struct History: Equatable, Sendable {
        package internal(set) var transactions = 0
        package internal(set) var changes = 0
        package let isKept: Bool
    }

    package var objects: Int { entities.reduce(0) { $0 + $1.objects } }

    init(_ model: CoreDataStoreModel) {
        modelOrigin = model.origin.description
        guessReason = model.guessReason
        guesses = model.guesses
        references = model.doubts
        versionHashes = model.model.entityVersionHashesByName
    }
}

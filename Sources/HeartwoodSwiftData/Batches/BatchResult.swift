/// The models that a batch has inserted, updated or deleted in the stores.
public struct BatchResult: Sendable, Equatable {
    /// The number of models that the batch has inserted, updated or deleted, without those that a deletion's rules have deleted with them.
    public let count: Int
    /// Their identifiers, and those of models that a deletion's rules have deleted with them; empty where the batch was not to collect them.
    public let identifiers: [PersistentIdentifier]
}

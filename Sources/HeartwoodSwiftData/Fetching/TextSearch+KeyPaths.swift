import Foundation
import Heartwood

extension TextSearch {
    /// A search of properties of a model by their key paths; see `FetchDescriptor.textSearch`.
    /// - Parameter keyPaths: properties of text, and parts of structures that are texts.
    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a key path that reads no property.
    public init<Model: PersistentModel>(
        _ text: String, in keyPaths: [PartialKeyPath<Model>], matchesLastWordAsPrefix: Bool = false, sortsByRelevance: Bool = true
    ) throws {
        self.init(
            text, in: try keyPaths.map { try ModelKeys.path($0) }, matchesLastWordAsPrefix: matchesLastWordAsPrefix,
            sortsByRelevance: sortsByRelevance)
    }
}

/// The names by which the managed objects of a model know what key paths read, where the model takes no store's forms.
enum ModelKeys {
    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a key path that reads no property.
    static func path<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>) throws -> String {
        do {
            let keys = try PropertyPath.of(keyPath, root: ModelType.of(Model.self)).managedKeys
            return keys.isEmpty ? "objectID" : keys.joined(separator: ".")
        } catch let error as PredicateTranslationError {
            throw SwiftDataError.unsupportedKeyPath.because("\(error)", underlying: error)
        }
    }
}

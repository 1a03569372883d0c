import Foundation
import Heartwood
import Synchronization

/// The identity of a model.
///
/// It is temporary until the model is saved. Identifiers may cross actors and processes; models may not.
/// Source: https://developer.apple.com/documentation/swiftdata/persistentidentifier
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Codable, Sendable {
    /// Source: https://developer.apple.com/documentation/swiftdata/persistentidentifier/id-swift.struct
    public struct ID: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            /// In a store that is open, or was: IDs of one object are equal.
            case object(NSManagedObjectID)
            /// Of a model that no context has, by number.
            case unsaved(UInt64, entity: String)
            /// Decoded, or made for a store of the program's own: by the URI.
            case uri(URL)
        }

        let form: Form

        public static func == (a: ID, b: ID) -> Bool {
            switch (a.form, b.form) {
            case (.object(let x), .object(let y)): x == y
            case (.unsaved(let x, _), .unsaved(let y, _)): x == y
            case (.uri(let x), .uri(let y)): x == y
            case (.object(let x), .uri(let y)), (.uri(let y), .object(let x)): x.uriRepresentation() == y
            default: false
            }
        }

        /// The last part of the URI is what all forms of an identifier share.
        public func hash(into hasher: inout Hasher) {
            switch form {
            case .object(let id): hasher.combine(id.isTemporaryID ? "" : id.uriRepresentation().lastPathComponent)
            case .unsaved(let number, _): hasher.combine(number)
            case .uri(let url): hasher.combine(url.lastPathComponent)
            }
        }
    }

    public let id: ID

    public var entityName: String {
        switch id.form {
        case .object(let id): id.entity.name ?? ""
        case .unsaved(_, let entity): entity
        case .uri(let url): NSManagedObjectID.parts(of: url)?.entity ?? ""
        }
    }

    /// nil before the model is saved.
    public var storeIdentifier: String? { uri.flatMap { NSManagedObjectID.parts(of: $0)?.store } }

    private static let unsavedCount = Atomic<UInt64>(0)

    init(_ objectID: NSManagedObjectID) {
        id = ID(form: .object(objectID))
    }

    init(unsaved type: any PersistentModel.Type) {
        id = ID(form: .unsaved(Self.unsavedCount.add(1, ordering: .relaxed).newValue, entity: Schema.entityName(of: type)))
    }

    init(uri: URL) { id = ID(form: .uri(uri)) }

    /// The identifier of a model in a store of the program's own.
    /// - Throws: `EncodingError` for names of which no URI can be made.
    public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier {
        guard !storeIdentifier.isEmpty, !entityName.isEmpty else {
            throw EncodingError.invalidValue(
                primaryKey, .init(codingPath: [], debugDescription: "A store's and an entity's name must not be empty."))
        }
        let url = NSManagedObjectID.uri(store: storeIdentifier, entity: entityName, name: "\(primaryKey)")
        return PersistentIdentifier(uri: url)
    }

    /// The URI, as Core Data's objects have it; nil for a model of no context.
    var uri: URL? {
        switch id.form {
        case .object(let id): id.uriRepresentation()
        case .uri(let url): url
        case .unsaved: nil
        }
    }

    /// Entities by name, then objects in the order in which their store numbered them.
    public static func < (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool {
        if a.entityName != b.entityName { return a.entityName < b.entityName }
        if a.storeIdentifier != b.storeIdentifier { return (a.storeIdentifier ?? "") < (b.storeIdentifier ?? "") }
        let x = a.lastPart, y = b.lastPart
        return x.count == y.count ? x < y : x.count < y.count
    }

    private var lastPart: String {
        if case .unsaved(let number, _) = id.form { return String(number) }
        return uri?.lastPathComponent ?? ""
    }

    public static func == (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey { case implementation }
    private enum PartKeys: String, CodingKey { case primaryKey, uriRepresentation, isTemporary, storeIdentifier, entityName }

    /// - Throws: `DecodingError` for anything but what `encode(to:)` writes of a saved model.
    public init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(keyedBy: PartKeys.self, forKey: .implementation)
        let uri = try parts.decode(URL.self, forKey: .uriRepresentation)
        let entityName = try parts.decode(String.self, forKey: .entityName)
        guard let known = NSManagedObjectID.parts(of: uri), known.entity == entityName else {
            throw DecodingError.dataCorruptedError(
                forKey: .uriRepresentation, in: parts, debugDescription: "\(uri) is not the URI of a saved model of \(entityName).")
        }
        self.init(uri: uri)
    }

    /// - Throws: `EncodingError` for a model that is not saved: no other process could find it.
    public func encode(to encoder: any Encoder) throws {
        guard let uri, let storeIdentifier else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "The model is not saved, so its identifier is temporary."))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        var parts = container.nestedContainer(keyedBy: PartKeys.self, forKey: .implementation)
        try parts.encode(uri, forKey: .uriRepresentation)
        try parts.encode(entityName, forKey: .entityName)
        try parts.encode(storeIdentifier, forKey: .storeIdentifier)
        try parts.encode(false, forKey: .isTemporary)
        try parts.encode(uri.lastPathComponent, forKey: .primaryKey)
    }
}

extension PersistentIdentifier: ObjectIDWrapper {
    package init(objectID: NSManagedObjectID) { self.init(objectID) }
}

extension PersistentIdentifier: CustomStringConvertible {
    public var description: String { "PersistentIdentifier(\(uri?.absoluteString ?? "unsaved \(entityName)"))" }
}

/// The values of one model, apart from any context.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastoresnapshot
public protocol DataStoreSnapshot: Codable, Sendable {
    var persistentIdentifier: PersistentIdentifier { get }

    /// - Parameter relatedBackingDatas: the backing data of the models that are saved together with this one.
    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// The same values for another identifier, with identifiers replaced in relationships.
    func copy(persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?) -> Self
}

/// What an attribute's value in a snapshot is.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastoresnapshotvalue
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The keys of an encoded snapshot: its identifier, and the names of the model's properties.
///
/// Source: https://developer.apple.com/documentation/swiftdata/datastoresnapshotcodingkey
public enum DataStoreSnapshotCodingKey: CodingKey {
    case persistentIdentifier
    case modeledProperty(String)

    private static let identifierName = "persistentIdentifier"

    public init?(stringValue: String) { self = stringValue == Self.identifierName ? .persistentIdentifier : .modeledProperty(stringValue) }
    public init?(intValue: Int) { return nil }

    public var stringValue: String {
        switch self {
        case .persistentIdentifier: Self.identifierName
        case .modeledProperty(let name): name
        }
    }
    public var intValue: Int? { nil }
}

extension DecodingError {
    /// A store, or a snapshot, has an identifier that it cannot have.
    static func ofIdentifier(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [DataStoreSnapshotCodingKey.persistentIdentifier], debugDescription: reason))
    }
}

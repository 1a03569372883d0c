import Foundation

extension CodingUserInfoKey {
    /// Under which a decoder is given the coordinator that knows the stores of the IDs it decodes.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "heartwood.persistentStoreCoordinator")
}

/// As its URI. `#Predicate` takes captured values only if they are Codable; objects are captured by their IDs.
extension NSManagedObjectID: Encodable, DecodedByURI {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uriRepresentation())
    }
}

/// Decodes an ID. In a protocol's extension, since a class that can be subclassed would have a required initializer, which each subclass
/// would have to state.
public protocol DecodedByURI: Decodable {}

extension DecodedByURI {
    /// - Throws: where the decoder's `userInfo` has no coordinator, or that has no store with the object.
    public init(from decoder: any Decoder) throws {
        let uri = try decoder.singleValueContainer().decode(URL.self)
        let coordinator = CodingUserInfoKey.persistentStoreCoordinator.flatMap { decoder.userInfo[$0] as? NSPersistentStoreCoordinator }
        guard let id = coordinator?.managedObjectID(forURIRepresentation: uri) as? Self else {
            throw DecodingError.dataCorrupted(.init(
                codingPath: decoder.codingPath,
                debugDescription: "\(uri) is no object of a store of the coordinator that the decoder's userInfo holds under "
                    + ".persistentStoreCoordinator."))
        }
        self = id
    }
}

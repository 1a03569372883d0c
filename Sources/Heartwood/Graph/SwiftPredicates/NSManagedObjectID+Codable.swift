import Foundation

extension CodingUserInfoKey {
    /// The key for a decoder's coordinator, which knows the stores of the decoded IDs.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "heartwood.persistentStoreCoordinator")
}

/// Encodes an ID as its URI. `#Predicate` captures only Codable values, so objects are captured by their IDs.
extension NSManagedObjectID: Encodable, _DecodedByURI {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uriRepresentation())
    }
}

/// Decodes an ID. A protocol's extension, since an open class would need a required initializer, which every subclass would have to implement.
public protocol _DecodedByURI: Decodable {}

extension _DecodedByURI {
    /// - Throws: if the decoder's `userInfo` has no coordinator, or if the coordinator has no store with the object.
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

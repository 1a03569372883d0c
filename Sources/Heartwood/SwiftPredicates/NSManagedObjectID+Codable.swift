import Foundation

extension CodingUserInfoKey {
    /// Under which a decoder is given the coordinator that knows the stores of the IDs it decodes.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "heartwood.persistentStoreCoordinator")
}

/// As its URI. `#Predicate` takes captured values only if they are Codable; objects are captured by their IDs.
extension NSManagedObjectID: Codable {
    /// - Throws: where the decoder's `userInfo` has no coordinator, or that has no store with the object.
    public convenience init(from decoder: any Decoder) throws {
        let uri = try decoder.singleValueContainer().decode(URL.self)
        let coordinator = CodingUserInfoKey.persistentStoreCoordinator.flatMap { decoder.userInfo[$0] as? NSPersistentStoreCoordinator }
        guard let id = coordinator?.managedObjectID(forURIRepresentation: uri) else {
            throw DecodingError.dataCorrupted(.init(
                codingPath: decoder.codingPath,
                debugDescription: "\(uri) is no object of a store of the coordinator that the decoder's userInfo holds under "
                    + ".persistentStoreCoordinator."))
        }
        self.init(entity: id.entity, key: id.key, store: id.persistentStore, contextToken: id.contextToken)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uriRepresentation())
    }
}

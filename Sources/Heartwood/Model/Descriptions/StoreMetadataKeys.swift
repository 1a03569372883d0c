/// The keys of a store's metadata. This one: the store's identity.
public let NSStoreUUIDKey = "NSStoreUUID"
public let NSStoreTypeKey = "NSStoreType"
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

import RecordLog

extension RecordLogSchema {
    /// The tables that a record log would have for these entities, for a store that makes rows of that form from its own. No log is made.
    /// - Parameters:
    ///   - path: for the messages of errors.
    ///   - derives: whether the store computes derived attributes.
    /// - Throws: 134020 for a derivation that cannot be computed, where the store computes some.
    package static func drafted(
        _ entities: [NSEntityDescription], for store: any IdentifyingStore, firstSlot: UInt16, path: String, derives: Bool = false
    ) throws -> RecordLogSchema {
        let draft = CatalogDraft(path: path), derivations = derives ? try DerivationReader(entities: entities).read() : [:]
        do {
            try RecordLogSchemaWriter(transaction: draft, entities: entities).write()
        } catch {
            throw RecordLogErrors.wrapIfOfEngine(error, opening: true)
        }
        return try RecordLogSchemaReader(
            catalog: draft.catalog, entities: entities, derivations: derivations, plans: IndexPlans(entities), store: store, firstSlot: firstSlot
        ).read()
    }
}

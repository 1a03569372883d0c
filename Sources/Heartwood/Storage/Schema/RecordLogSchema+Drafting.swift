import RecordLog

extension RecordLogSchema {
    /// The tables that a record log would have for these entities, for a store that makes rows of that form from its own. No log is made, and
    /// values are not derived.
    /// - Parameter path: for the messages of errors.
    package static func drafted(
        _ entities: [NSEntityDescription], for store: any IdentifyingStore, firstSlot: UInt16, path: String
    ) throws -> RecordLogSchema {
        let draft = CatalogDraft(path: path)
        do {
            try RecordLogSchemaWriter(transaction: draft, entities: entities).write()
        } catch {
            throw RecordLogErrors.wrapIfOfEngine(error, opening: true)
        }
        return try RecordLogSchemaReader(
            catalog: draft.catalog, entities: entities, derivations: [:], plans: IndexPlans(entities), store: store, firstSlot: firstSlot
        ).read()
    }
}

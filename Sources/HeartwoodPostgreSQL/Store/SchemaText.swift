import Foundation
import Heartwood

/// The statements that make the tables of a model, as a text.
package enum SchemaText {
    /// - Parameter entities: of the model, or of one of its configurations.
    package static func of(_ entities: [NSEntityDescription]) throws -> String {
        let store = PostgreSQLStore(persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/"))
        let schema = try RecordLogSchema.drafted(entities, for: store, firstSlot: 0, path: StoreLocation.defaultSchema)
        let layout = PostgreSQLLayout(schema, slotBase: 0, in: StoreLocation.defaultSchema, numbers: PostgreSQLStore.numbers(schema))
        return SchemaStatements(layout).text
    }
}

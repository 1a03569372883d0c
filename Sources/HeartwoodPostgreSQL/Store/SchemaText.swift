import Foundation
import Heartwood

/// The statements that make the tables of a model, as a text.
package enum SchemaText {
    /// - Parameter entities: of the model, or of one of its configurations.
    package static func of(_ entities: [NSEntityDescription]) throws -> String {
        SchemaStatements(try layout(of: entities, in: StoreLocation.defaultSchema)).text
    }

    /// The layout of a store's tables.
    /// - Parameters:
    ///   - name: of the schema.
    ///   - numbers: of the entities; nil for those of a new store.
    static func layout(of entities: [NSEntityDescription], in name: String, numbers: [String: Int16]? = nil) throws -> PostgreSQLLayout {
        let store = PostgreSQLStore(persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/"))
        let schema = try RecordLogSchema.drafted(entities, for: store, firstSlot: 0, path: name)
        return PostgreSQLLayout(schema, slotBase: 0, in: name, numbers: numbers ?? PostgreSQLStore.numbers(schema))
    }
}

import Foundation
import Heartwood

/// The statements that make the tables of a model, as a text.
package enum SchemaText {
    /// - Parameter entities: of the model, or of one of its configurations.
    package static func of(_ entities: [NSEntityDescription]) throws -> String {
        SchemaStatements(try layout(of: entities, in: StoreLocation.defaultSchema)).text
    }

    /// A store for tables that no coordinator has.
    static var unlisted: PostgreSQLStore { PostgreSQLStore(persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/")) }

    /// The layout of a store's tables.
    /// - Parameters:
    ///   - name: of the schema.
    ///   - path: the store's location, for errors; nil for the schema's name.
    ///   - numbers: of the entities; nil for those of a new store.
    static func layout(
        of entities: [NSEntityDescription], in name: String, path: String? = nil, numbers: [String: Int16]? = nil, version: Int = 1
    ) throws -> PostgreSQLLayout {
        let schema = try RecordLogSchema.drafted(entities, for: unlisted, firstSlot: 0, path: path ?? name, derives: true)
        return PostgreSQLLayout(schema, slotBase: 0, in: name, numbers: numbers ?? PostgreSQLStore.numbers(schema), version: version)
    }
}

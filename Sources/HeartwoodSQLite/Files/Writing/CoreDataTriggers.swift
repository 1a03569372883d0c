import Foundation
import Heartwood

/// The triggers with which Core Data keeps counts of objects that refer to a row. They call functions that only Core Data has.
///
/// The triggers of other derivations were not met in any store, so there are none here.
struct CoreDataTriggers {
    struct Trigger {
        let name: String
        let table: String
        let sql: String
    }

    let tables: CoreDataTables

    /// - Parameter counts: the derived attributes that count the members of a relationship.
    func all(_ counts: [(attribute: NSDerivedAttributeDescription, members: NSRelationshipDescription)]) -> [Trigger] {
        counts.flatMap { triggers($0.attribute, $0.members) }
    }

    private func column(of property: NSPropertyDescription) -> (table: String, column: CoreDataColumn)? {
        for table in tables.tables {
            if let column = table.columns.first(where: { $0.use == .value && $0.property === property }) { return (table.name, column) }
        }
        return nil
    }

    private func triggers(_ attribute: NSDerivedAttributeDescription, _ members: NSRelationshipDescription) -> [Trigger] {
        guard let inverse = members.inverseRelationship, !inverse.isToMany, let counted = column(of: attribute), let link = column(of: inverse)
        else { return [] }
        let names = Names(
            table: counted.table, entity: counted.column.owner.name ?? "", attribute: attribute.name, column: SQLText.name(counted.column.name),
            members: link.table, link: SQLText.name(link.column.name))
        return names.changes + [names.insertion]
    }

    private struct Names {
        let table: String
        let entity: String
        let attribute: String
        let column: String
        /// The table whose rows are counted, and its column with the key.
        let members: String
        let link: String

        var changes: [Trigger] {
            [
                change("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
                change("UPDATE_INCREMENT", "UPDATE OF \(link)", "NEW", "\(column) + 1"),
                change("UPDATE_DECREMENT", "UPDATE OF \(link)", "OLD", "\(column) - 1"), change("DELETE", "DELETE", "OLD", "\(column) - 1"),
            ]
        }

        private func change(_ end: String, _ event: String, _ row: String, _ value: String) -> Trigger {
            let name = "Z_DA_\(members)_\(entity)_\(attribute)_PARAMETER_\(end)", key = "\(row).\(link)"
            return Trigger(
                name: name, table: members,
                sql: "CREATE TRIGGER \(SQLText.name(name)) AFTER \(event) ON \(SQLText.name(members)) FOR EACH ROW WHEN (\(key) NOT NULL) BEGIN "
                    + "UPDATE \(SQLText.name(table)) SET \(column) = \(value) WHERE Z_PK = \(key); \(shown("Updated", key)) END")
        }

        var insertion: Trigger {
            let name = "Z_DA_\(table)_\(entity)_\(attribute)_SOURCE_INSERT"
            let counted = "(SELECT IFNULL(COUNT(\(link)), 0) FROM \(SQLText.name(members)) WHERE \(link) = NEW.Z_PK)"
            return Trigger(
                name: name, table: table,
                sql: "CREATE TRIGGER \(SQLText.name(name)) AFTER INSERT ON \(SQLText.name(table)) FOR EACH ROW BEGIN "
                    + "UPDATE \(SQLText.name(table)) SET \(column) = \(counted) WHERE Z_PK = NEW.Z_PK; \(shown("InsertUpdated", "NEW.Z_PK")) END")
        }

        /// The call with which Core Data learns of the new value.
        private func shown(_ kind: String, _ key: String) -> String {
            "SELECT NSCoreDataDATrigger\(kind)AffectedObjectValue(\(SQLText.literal(table)), Z_ENT, Z_PK, \(SQLText.literal(attribute)), \(column)) "
                + "FROM \(SQLText.name(table)) WHERE Z_PK = \(key);"
        }
    }
}

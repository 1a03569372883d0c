import Foundation
import Heartwood
import RecordLog

/// One table of objects in a new SQLite file: its statement, its indexes, and the source of each column for each entity.
struct ExportTable {
    /// A relationship whose order or owners stand in this table's columns. The entries come from a join table of the record log.
    struct Link {
        let join: JoinTable
        /// Whether the sorter's entries have the owner's key first and the order second; otherwise the order first.
        let hasOwner: Bool
        /// The relationship's name, for errors.
        let name: String
    }

    /// The rows of one entity.
    struct Rows {
        let table: EntityTable
        /// By column, the primary key not included.
        let sources: [ExportSource]
    }

    let name: String
    let statement: String
    let columnCount: Int
    let indexes: [SQLiteIndexDefinition]
    let rows: [Rows]
    let links: [Link]
}

/// One join table of a new SQLite file.
struct ExportJoin {
    let name: String
    let statement: String
    let indexes: [SQLiteIndexDefinition]
    /// nil if no entity with rows has the relationship.
    let join: JoinTable?
    /// Whether the first column has the keys of the record log's sources.
    let isSourceFirst: Bool
    /// By column behind the keys: whether it has the order of the sources' members.
    let orders: [Bool]
    /// Whether a pair is left out if one of its rows is not there.
    let mustExist: Bool
}

/// Everything that a new SQLite file has.
struct ExportPlan {
    /// A row of a table that has no objects.
    struct Record {
        enum Value {
            case null
            case integer(Int64)
            case text(String)
            case bytes([UInt8])
        }

        let rowid: Int64
        /// By column, the primary key not included if there is one.
        let values: [Value]
    }

    struct Bookkeeping {
        let name: String
        let statement: String
        let columnCount: Int
        let hasKey: Bool
        let rows: [Record]
    }

    let tables: [ExportTable]
    let joins: [ExportJoin]
    let bookkeeping: [Bookkeeping]
    let triggers: [CoreDataTriggers.Trigger]
    let keys: ExportKeys
}

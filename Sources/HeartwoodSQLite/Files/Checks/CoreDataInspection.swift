import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// The contents of a store of Core Data's and their use of space. `heartwood inspect` shows it.
package struct CoreDataInspection {
    /// The form of the database.
    package struct Database {
        package let fileBytes: UInt64
        /// Those of the log included.
        package let pages: Int
        package let pageSize: Int
        package let freePages: Int
        package let pointerMapPages: Int
        package let unusedPages: Int
        /// The version of the SQLite that wrote last, as 3040001 for 3.40.1; 0 if the file does not say.
        package let sqliteVersion: UInt32
        package let encoding: String
        package let autoVacuum: String
        /// Faults in the structure.
        package let faults: Int
        package let isRolledBack: Bool
        /// Whether the header says that SQLite keeps a write-ahead log while the file is in use.
        package let usesLog: Bool
    }

    package struct Log {
        package let bytes: UInt64
        package let isValid: Bool
        package let salts: [UInt32]
        package let frames: Int
        package let commits: Int
        package let pages: Int
        package let openFrames: Int
        package let ignoredFrames: Int
        package let wrongFrame: Int?
        package let isCheckpointed: Bool
    }

    package struct Entity {
        package let name: String
        package let parent: String?
        package let isAbstract: Bool
        package let number: Int64
        package let table: String
        /// Without those of subentities.
        package let objects: Int
    }

    /// A table, or several under one name.
    package struct Table {
        package enum Kind: String { case entity, join, history, bookkeeping, other }

        package let name: String
        package let kind: Kind
        package let rows: Int
        package let bytes: UInt64
        /// Of all its indexes.
        package let indexBytes: UInt64
    }

    package struct Index {
        package let name: String
        package let table: String
        package let entries: Int
        package let bytes: UInt64
    }

    package struct History {
        package let transactions: Int
        package let changes: Int
        package let oldest: (number: Int64, date: Date?)?
        package let newest: (number: Int64, date: Date?)?
    }

    /// Values in files of their own.
    package struct External {
        package let directory: String
        package let inlineValues: Int
        package let inlineBytes: UInt64
        package let fileValues: Int
        package let fileBytes: UInt64
        package let missing: [String]
        /// Values without a tag that says where they are.
        package let untagged: Int
        /// Files in the directory that no value names.
        package let unnamed: Int
    }

    package let path: String
    package let identifier: String
    package let storeType: String
    package let frameworkVersion: Int?
    package let modelOrigin: String
    package let modelIdentifiers: [String]
    /// The reason why the model is guessed; nil if it is not.
    package let guessReason: String?
    /// Statements about what is not certain of the model.
    package let guesses: [String]
    /// Statements about references that may be meant otherwise.
    package let doubts: [String]
    package let warnings: [String]
    /// The reason why the tables do not fit the model; nil if they do.
    package let misfit: String?
    /// Tables and columns that the model does not explain.
    package let differences: [String]
    package let database: Database
    package let log: Log?
    package let entities: [Entity]
    package let tables: [Table]
    package let indexes: [Index]
    /// Rows that are of no entity of their table, by table.
    package let strays: [String: Int]
    /// nil if the store has no history.
    package let history: History?
    /// nil if no attribute allows values outside of the file.
    package let external: External?
    package let views: Int
    package let triggers: Int
    package let virtualTables: [String]

    /// - Parameter given: a model file, for a store without a cache that can be read.
    /// - Throws: 134020 for a database of another program, 259 for a damaged one, 134090 if its owner writes without a rest.
    /// - Complexity: reads every page.
    package static func inspect(path: String, given: URL? = nil) throws -> CoreDataInspection {
        do {
            return try ExaminedStore.read(path: path) { file in
                var inspector = CoreDataInspector(try ExaminedStore(file, given: given))
                return try inspector.inspect()
            }
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }
}

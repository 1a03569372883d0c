import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// An open file of Core Data's with its model and its layout, for inspection and checks.
struct ExaminedStore {
    let file: SQLiteFile
    let contents: CoreDataContents
    let found: CoreDataStoreModel
    /// nil if the tables do not fit the model; then `misfit` says why.
    let layout: CoreDataLayout?
    let misfit: String?
    /// Of the layout, which are immutable copies of the model's.
    let entities: [NSEntityDescription]

    private static let attemptsMax = 10

    /// Opens the file and calls `body` in one state of it, again if the owner changes the file meanwhile.
    /// - Throws: an error of the file, unwrapped.
    static func read<Result>(path: String, _ body: (SQLiteFile) throws -> Result) throws -> Result {
        var attempt = 1
        while true {
            do {
                let file = try SQLiteFile.open(path: path)
                return try file.read { try body(file) }
            } catch let error as SQLiteFileError where error.code == .changed && attempt < attemptsMax {
                attempt += 1
            }
        }
    }

    /// Call it inside of `file.read`.
    init(_ file: SQLiteFile, given: URL?) throws {
        self.file = file
        contents = try CoreDataContents(file)
        found = try CoreDataStoreModel(contents, file, given: given)
        entities = CoreDataStoreModel.entities(of: found.model, in: contents)
        do {
            layout = try CoreDataLayout(entities, contents.numbers, contents.schema, path: file.path)
            misfit = nil
        } catch {
            layout = nil
            misfit = (error as NSError).localizedDescription
        }
    }

    /// By table, the entities whose rows it has, by number.
    var tables: [(name: String, entities: [CoreDataLayout.Entity])] {
        Dictionary(grouping: layout?.entities.values.map { $0 } ?? [], by: \.table).sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.sorted { $0.number < $1.number }) }
    }
}

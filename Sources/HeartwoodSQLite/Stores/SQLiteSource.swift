import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// The file of an SQLite store. Any thread may use it; one at a time reads.
///
/// (1) A read sees one state of the file. If the owner changes the file meanwhile, the state is made anew and the read is repeated, so `body` may
///     run more than once and hands out nothing before it returns.
/// (2) A new state is used only if it is of the same store and has the model's tables.
final class SQLiteSource: @unchecked Sendable {
    // Unchecked: `turn` guards `reader`.

    let path: String
    /// Notes files of values that are not there; nil to make them errors.
    let missingFiles: MissingValueFiles?
    private let entities: [NSEntityDescription]
    private let schema: RecordLogSchema
    private let identifier: String
    private let turn = NSLock()
    private var reader: CoreDataReader?
    private let comparisons: IndexComparisons

    /// A writer that commits more often than this during reads makes them fail.
    private static let attemptsMax = 10

    init(
        _ reader: CoreDataReader, _ entities: [NSEntityDescription], _ schema: RecordLogSchema, missingFiles: MissingValueFiles?
    ) {
        self.missingFiles = missingFiles
        reader.missingFiles = missingFiles
        comparisons = reader.comparisons
        path = reader.file.path
        identifier = reader.contents.identifier
        self.entities = entities
        self.schema = schema
        self.reader = reader
    }

    /// - Throws: 134090 if the owner writes without a rest, 134180 if the file is damaged, and the errors of `body`.
    func read<Result>(_ body: (CoreDataReader) throws -> Result) throws -> Result {
        turn.lock()
        defer { turn.unlock() }
        var attempt = 1
        while true {
            do {
                let reader = try current()
                return try reader.file.read { try body(reader) }
            } catch let error as SQLiteFileError {
                // A state is kept only as long as nothing is wrong with it.
                reader = nil
                guard error.code == .changed, attempt < Self.attemptsMax else { throw CoreDataFileError.wrap(error, opening: false) }
                attempt += 1
            }
        }
    }

    private func current() throws -> CoreDataReader {
        if let reader { return reader }
        let file = try SQLiteFile.open(path: path)
        let made = try file.read {
            let contents = try CoreDataContents(file)
            guard contents.identifier == identifier else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError,
                    "Another store has replaced the file \(path) while it was open. Remove the store from its coordinator and add it again.",
                    [NSFilePathErrorKey: path])
            }
            let layout = try CoreDataLayout(entities, contents.numbers, contents.schema, path: path)
            let reader = try CoreDataReader(file, contents, layout, schema)
            reader.missingFiles = missingFiles
            reader.comparisons = comparisons
            return reader
        }
        reader = made
        return made
    }

    func close() { turn.withLock { reader = nil } }
}

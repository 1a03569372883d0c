import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite
import RecordLog

struct VerifyCommand: Command {
    static let name = "verify"

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()

    static let declaration = CommandDeclaration(
        "Checks every checksum, the chain of commits, the indexes and the rows.",
        [CommandForm([Self.store], options: [StoreReading.unmapped, CoreDataStore.option])],
        databases: .taken,
        exits: [
            ExitCode(0, "sound"),
            ExitCode(
                1,
                """
                damaged, with where and whether it is a torn tail (a crash's unfinished end, which the next opening for writing cuts off), a \
                part of a save over several stores that waits for the store that decides about it, or corruption
                """),
            .wrongUsage,
            ExitCode(
                3,
                """
                undamaged, but references are guessed and not sure, as a Core Data store without a model has them, and a store that was \
                converted from it
                """),
        ],
        discussion: """
            Reads the whole store and writes nothing. It finds checksums that do not hold, commits that do not follow each other, indexes that
            disagree with the rows, rows whose bytes no writer writes (texts that are no UTF-8, nulls with bytes), large values that lack a
            part; and by the model that the store carries derived attributes that are not what their derivation gives, relationships to
            objects that do not exist or do not refer back, and values that are to be unique and are not. It cannot find a wrong value that
            nothing else in the store contradicts.

            Of a Core Data store (.sqlite) it checks each page of tables, indexes and free lists, the checksums of the write-ahead log, that
            index entries and rows agree, values by the types of their attributes, references, inverses and order keys, unique values, entity
            numbers, keys, and the history. A finding names table, row and column.

            A store in a PostgreSQL database is copied into the folder for temporary files, as of one moment, and checked there. Also: tables,
            columns, keys, unique indexes and references that the model needs, numbers of entities, and numbers that a sequence would give
            twice.
            """,
        examples: [.init("verify app.heartwood", "says whether the store is sound")])

    private let store: String
    private let usesMemoryMapping: Bool
    private let modelFile: String?

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        usesMemoryMapping = try !arguments[StoreReading.unmapped]
        modelFile = try arguments[CoreDataStore.option]
    }

    func run() throws -> Int32 {
        let check: StoreCheck
        if DatabaseStore.isOne(store) {
            let bar = ProgressBar("reading")
            defer { bar.finish() }
            check = try StoreCheck(server: store) { bar.update($0, of: $1) }
        } else {
            check = try StoreCheck(path: store, modelFile: modelFile, usesMemoryMapping: usesMemoryMapping)
        }
        for (number, line) in check.lines.enumerated() { Output.lines([line], first: number == check.lines.count - 1 ? check.paint : nil) }
        return check.exitCode
    }
}

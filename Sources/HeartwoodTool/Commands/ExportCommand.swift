import Foundation
import Heartwood
import HeartwoodPostgreSQL
import RecordLog

struct ExportCommand: Command {
    static let name = "export"
    static let summary = "write objects as JSON Lines or CSV, or a store as SQLite"
    static let help = """
        USAGE: heartwood export STORE --entity E [--where PREDICATE] [--sort KEYS] [--limit N] [--format jsonl|csv] [--ids]
                                [--accept-damage]
               heartwood export STORE --all [--accept-damage]
               heartwood export STORE --format sqlite -o FILE [--model M | --plain] [--accept-damage]

        Writes one object a line to standard output. A relationship is written as its destinations' keys where their entity
        has a uniqueness constraint, else as their URIs; of two inverses on the same entity, the one that the model states
        first, and the second too where it has an order. A property without a value is left out, so that imported JSON Lines come
        back equal. Dates are ISO 8601 in UTC, seconds since 1970 before the year 1 and after 9999. Numbers have all the digits
        that lead back to them; "inf", "-inf" and "nan" are texts. A transformable's value is a text where it is one, else "@data:"
        and its bytes in base 64. In CSV the members of a to-many relationship are separated
        by semicolons; a semicolon or a backslash of a key has a backslash before it.

          --all               the whole store: each line says which object it is ("@id", its URI) and of which entity ("@entity"),
                              relationships are {"@id": URI}, and `heartwood import NEW --model M FILE` makes an equal store of it
          --ids               "@id" and "@entity" for one entity's objects, so that an import can connect those without keys
          --where 'age > 30 AND name BEGINSWITH "A"'
          --sort name,-age    ascending, and descending with a minus, or as age:desc
        \(PastOption.help)

        Exit code: 0 done; 1 failed; 2 wrong usage, or not a store; \(ReferenceDoubts.help).

        --format sqlite writes the whole store to a new file in Core Data's layout, for apps on Apple's platforms: tables, columns, keys and
        indexes as Core Data makes them (without those that have a condition, are over expressions, or of other kinds than binary: these
        are named), external data in the rows, no history. Objects keep their URIs, unless two entities of one
        hierarchy have the same number; that is said. Decimals keep 15 to 17 digits, as in Core Data.

          -o FILE             the file to make; nothing may be there
          --model M           a .momd, or a .mom in it, or a store of Core Data's with this version of the model: for the version hashes,
                              which Heartwood cannot compute. Without them Core Data opens the file only with
                              NSIgnorePersistentStoreVersioningOption. If STORE is itself Core Data's, it knows its version; if it has no
                              model, M is its model. It goes through a record log beside FILE, which is removed again
          --plain             ordinary tables for SQL instead: readable names, foreign keys, dates as ISO 8601, decimals and UUIDs as text
        \(DamagedStore.help)
        """
    static let options: Set<String> = ["entity", "where", "sort", "limit", "format", "output", PastOption.name, CoreDataStore.option]
    static let flags: Set<String> = ["all", "ids", DatabaseExport.flag, DamagedStore.flag]

    private let store: String
    /// nil for all entities.
    private let entity: String?
    private let labels: Bool
    private let predicate: NSPredicate?
    private let sort: [NSSortDescriptor]
    private let limit: Int
    private let isCSV: Bool
    private let acceptsDamage: Bool
    /// nil for lines.
    private let database: DatabaseExport?
    private let modelFile: String?
    private let past: PastCommit?

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
        entity = arguments["entity"]
        labels = arguments.has("ids") || arguments.has("all")
        database = arguments["format"] == "sqlite" ? try DatabaseExport(arguments) : nil
        if database == nil, let other = arguments["output"] != nil ? "output" : arguments.has(DatabaseExport.flag) ? DatabaseExport.flag : nil {
            throw ToolError.usage("--\(other) goes with --format sqlite only; lines are written to standard output")
        }
        if database != nil {
            // It has checked its options.
        } else if arguments.has("all") {
            guard entity == nil, ["where", "sort", "limit"].allSatisfy({ arguments[$0] == nil }), arguments["format"] ?? "jsonl" == "jsonl" else {
                throw ToolError.usage("--all writes every object as JSON Lines; it goes with no other option")
            }
        } else if entity == nil {
            throw ToolError.usage("--entity or --all is missing")
        }
        limit = try arguments.integer("limit", default: 0)
        predicate = try QueryText.predicate(arguments["where"])
        acceptsDamage = arguments.has(DamagedStore.flag)
        modelFile = arguments[CoreDataStore.option]
        past = try PastOption.value(arguments)
        sort = QueryText.order(arguments["sort"])
        switch arguments["format"] ?? "jsonl" {
        case "jsonl": isCSV = false
        case "csv": isCSV = true
        case "sqlite": isCSV = false
        case let other: throw ToolError.usage("--format is jsonl, csv or sqlite, not \"\(other)\"")
        }
    }

    func run() throws -> Int32 {
        if let database, DatabaseStore.isOne(store) {
            try PastOption.refuse(past)
            try DatabaseConversion.withTemporaryLog { path in
                _ = try DatabaseStore.transfer(store).dump(to: URL(fileURLWithPath: path), verifies: false)
                try database.run(try OpenStore(path: path, isReadOnly: true))
            }
            return 0
        }
        if let database, CoreDataStore.isOne(store) {
            try PastOption.refuse(past)
            return try database.rewrite(store)
        }
        // In an export to SQLite the model tells the version hashes.
        let open = try OpenStore(
            path: store, modelFile: database == nil ? modelFile : nil, isReadOnly: true, acceptsDamage: acceptsDamage, at: past)
        if let database {
            try database.run(open)
            return 0
        }
        let output = OutputBuffer(), dangling = DanglingReferences()
        if let entity {
            try write(open.entity(entity), of: open, to: output, dangling)
        } else {
            // One entity after the other, each with its own properties.
            for entity in open.entities.filter({ !$0.isAbstract }).sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
                try write(entity, of: open, to: output, dangling)
            }
        }
        try output.flush()
        open.warnOfMissingFiles()
        dangling.warn()
        return ReferenceDoubts.code(open.doubts)
    }

    private func write(_ entity: NSEntityDescription, of open: OpenStore, to output: OutputBuffer, _ dangling: DanglingReferences) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = self.entity != nil
        request.predicate = predicate
        request.sortDescriptors = sort
        request.fetchLimit = limit
        try RecordWriter(entity: entity, labels: labels, isCSV: isCSV, output: output, dangling: dangling).write(request, open.context)
    }
}

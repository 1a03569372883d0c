import Foundation
import Heartwood

struct ExportCommand: Command {
    static let name = "export"
    static let summary = "write an entity's objects as JSON Lines or CSV"
    static let help = """
        USAGE: heartwood export STORE --entity E [--where PREDICATE] [--sort KEYS] [--limit N] [--format jsonl|csv]
                                [--accept-damage]

        Writes one object a line to standard output. A relationship is written as its destinations' keys where their entity
        has a uniqueness constraint, else as their URIs; of two inverses on the same entity, the one that the model states
        first. What has no value is left out, so that what was imported as JSON Lines comes back equal. Dates are ISO 8601 in
        UTC, seconds since 1970 before the year 1 and after 9999. In CSV the members of a to-many relationship are separated
        by semicolons; a semicolon or a backslash of a key has a backslash before it.

          --where 'age > 30 AND name BEGINSWITH "A"'
          --sort name,-age    ascending, and descending with a minus, or as age:desc
        \(DamagedStore.help)
        """
    static let options: Set<String> = ["entity", "where", "sort", "limit", "format"]
    static let flags: Set<String> = [DamagedStore.flag]

    private let store: String
    private let entity: String
    private let predicate: NSPredicate?
    private let sort: [NSSortDescriptor]
    private let limit: Int
    private let isCSV: Bool
    private let acceptsDamage: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
        entity = try arguments.required("entity")
        limit = try arguments.integer("limit", default: 0)
        predicate = try QueryText.predicate(arguments["where"])
        acceptsDamage = arguments.has(DamagedStore.flag)
        sort = QueryText.order(arguments["sort"])
        switch arguments["format"] ?? "jsonl" {
        case "jsonl": isCSV = false
        case "csv": isCSV = true
        case let other: throw ToolError.usage("--format is jsonl or csv, not \"\(other)\"")
        }
    }

    func run() throws -> Int32 {
        let open = try OpenStore(path: store, isReadOnly: true, acceptsDamage: acceptsDamage)
        let request = NSFetchRequest<NSManagedObject>(entityName: try open.entity(entity).name ?? "")
        request.predicate = predicate
        request.sortDescriptors = sort
        request.fetchLimit = limit
        let objects: [NSManagedObject]
        do {
            objects = try open.context.fetch(request)
        } catch {
            throw ToolError.ofRequest(error)
        }
        let writer = RecordWriter(entity: try open.entity(entity))
        if isCSV { try writer.csvHeader() }
        for object in objects {
            try isCSV ? writer.csv(object) : writer.json(object)
            // A damaged index gives an object no members; a line without them would pass for the truth.
            if let failure = open.context.readingFailure { throw failure }
        }
        try writer.flush()
        return 0
    }
}

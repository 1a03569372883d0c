import Foundation
import Heartwood
import RecordLog

struct LogCommand: Command {
    static let name = "log"
    static let summary = "list the commits that a store's log has"
    static let help = """
        USAGE: heartwood log STORE [--limit N] [--entity NAME] [--object URI] [--since TIME] [--until TIME] [--format text|json|jsonl]

          --limit N       the newest N of them
          --entity NAME   commits that have written or deleted objects of this entity, or of an entity below it
          --object URI    commits that have written or deleted this object; a change of a to-many relationship need not write its owner
          --since TIME, --until TIME
                          commits from this time on, and up to that one: ISO 8601, as 2026-11-21T12:00:00Z, or a day alone
                          (2026-11-21): --since takes its beginning, --until its end, by UTC
          --format json   one array; jsonl: an object a line

        Newest first: number, time, bytes, author, and how many rows of each table were written and deleted. Each number goes with --at of
        query, export, inspect and diff, and with NSRecordLogAsOfOption. A compaction takes away the commits before it; a backup has them:
        `heartwood backup list`.
        \(DamagedStore.help)
        """
    static let options: Set<String> = ["limit", "entity", "object", "since", "until", "format"]
    static let flags: Set<String> = [DamagedStore.flag]
    static let adviceForDatabases: String? = "it has no commits to list; `heartwood history` lists the transactions of its history"

    private enum Format: String {
        case text, json, jsonl
    }

    private let store: String
    private let limit: Int
    private let entity: String?
    private let object: String?
    private let times: ClosedRange<Int64>
    private let format: Format
    private let acceptsDamage: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
        limit = try arguments.integer("limit", default: .max, from: 1)
        (entity, object) = (arguments["entity"], arguments["object"])
        let since = try arguments["since"].map { try TimeArgument.microseconds("since", $0, day: .beginning) } ?? .min
        let until = try arguments["until"].map { try TimeArgument.microseconds("until", $0, day: .end) } ?? .max
        guard since <= until else { throw ToolError.usage("--since is later than --until") }
        times = since...until
        guard let format = Format(rawValue: arguments["format"] ?? "text") else {
            throw ToolError.usage("--format is text, json or jsonl, not \"\(arguments["format"] ?? "")\"")
        }
        self.format = format
        acceptsDamage = arguments.has(DamagedStore.flag)
        guard entity == nil || object == nil else { throw ToolError.usage("--entity and --object exclude each other") }
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "it has no commits; `heartwood history` lists the transactions of its history")
        var options = StoredModel.options
        options.isReadOnly = true
        options.acceptsDamage = acceptsDamage
        let log = try LogStore.open(path: store, options: options)
        if let damage = log.damage { DamagedStore.warn(damage) }
        let text = CommitText(log.snapshot().catalog), writer = format == .text ? nil : JSONListWriter(isArray: format == .json)
        var count = 0
        try CommitLog(log).forEach(filter(log.snapshot().catalog)) { commit in
            if let writer { try writer.append(text.json(commit)) } else { Output.lines(text.lines(commit)) }
            count += 1
            return count < limit && (writer != nil || !Output.hasEnded)
        }
        try writer?.finish()
        return 0
    }

    private func filter(_ catalog: Catalog) throws -> CommitLog.Filter {
        var filter = CommitLog.Filter()
        filter.times = times
        guard entity != nil || object != nil else { return filter }
        let open = try OpenStore(path: store, isReadOnly: true, acceptsDamage: acceptsDamage)
        if let entity {
            let family = try open.entity(entity)
            let names = open.entities.filter { $0.isKindOf(entity: family) }.compactMap(\.name)
            filter.tables = Set(names.compactMap { catalog.table(named: $0)?.id })
        } else if let object {
            filter.row = try open.row(object)
        }
        return filter
    }
}

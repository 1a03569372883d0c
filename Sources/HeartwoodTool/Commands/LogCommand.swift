import Foundation
import Heartwood
import RecordLog

struct LogCommand: Command {
    static let name = "log"

    private static let store = Parameter.argument("STORE", .store, "a store's file").required()
    private static let limit = Parameter.integer("limit", from: 1, "the newest N of them")
    private static let entity = Parameter.text(
        "entity", "NAME", .entity, "commits that have written or deleted objects of this entity, or of an entity below it")
    private static let object = Parameter.text(
        "object", "URI", .object,
        "commits that have written or deleted this object; a change of a to-many relationship need not write its owner")
    private static let since = TimeArgument.option(
        "since", day: .beginning,
        "commits from this time on: ISO 8601, as 2026-11-21T12:00:00Z, or a day alone (2026-11-21), which is its beginning by UTC")
    private static let until = TimeArgument.option("until", day: .end, "commits up to this time; a day alone is its end by UTC")
    private static let format = ListFormat.option

    static let declaration = CommandDeclaration(
        "Lists the commits that a store's log has.",
        [
            CommandForm(
                [Self.store],
                options: [
                    Self.limit, Self.entity, Self.object, since, until, Self.format, OutputFile.option, Excerpt.option, DamagedStore.option,
                ],
                rules: [.excludes(Self.entity, [Self.object])])
        ],
        databases: .refused("it has no commits to list; `heartwood history` lists the transactions of its history"),
        discussion: """
            Newest first: number, time, bytes, author, and how many rows of each table were written and deleted. Each number goes with --at of
            query, export, inspect and diff, and with NSRecordLogAsOfOption. A compaction takes away the commits before it; a backup has them:
            `heartwood backup list`.
            """,
        examples: [
            .init("log app.heartwood --limit 3", "the newest three"),
            .init("log app.heartwood --entity Person --since 2026-11-21", "those that wrote a person from that day on"),
        ])

    let outputFile: String?
    private let store: String
    private let limit: Int
    private let entity: String?
    private let object: String?
    private let times: ClosedRange<Int64>
    private let format: ListFormat
    private let excerpt: Excerpt
    private let acceptsDamage: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        outputFile = try arguments[OutputFile.option]
        limit = try arguments[Self.limit] ?? .max
        (entity, object) = (try arguments[Self.entity], try arguments[Self.object])
        let since = try arguments[Self.since] ?? .min, until = try arguments[Self.until] ?? .max
        guard since <= until else { throw ToolError.usage("\(Self.since.title) is later than \(Self.until.title)") }
        times = since...until
        format = try arguments[Self.format]
        excerpt = try arguments[Excerpt.option] ? .full : .screen
        acceptsDamage = try arguments[DamagedStore.option]
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
            if let writer { try writer.append(text.json(commit)) } else { Output.lines(text.lines(commit, excerpt)) }
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

import Foundation
import Heartwood
import RecordLog

struct QueryCommand: Command {
    static let name = "query"

    private enum Format: String, CaseIterable {
        case table, csv, json, jsonl
    }

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()
    private static let entity = Parameter.argument("ENTITY", .entity, "whose objects").required()
    private static let search = Parameter.text(
        "search", "WORDS",
        """
        objects whose texts have all these words, the most relevant first unless --sort is given; a word that ends with * stands for all words \
        that start with it, if it is the last one
        """)
    private static let searched = Parameter.text(
        "search-in", "LIST", .attributes,
        "the attributes of text to search; without it those with a text index, or all of text if there is none")
    private static let select = Parameter.columns(
        "select",
        """
        what of them: attributes, key paths such as group.name, and expressions such as 'length:(name)'; an aggregate, such as 'sum:(size)' or \
        '@count', is over all of them, or over each group. Name an expression with AS: 'sum:(size) AS total'. Without it the attributes
        """)
    private static let groupBy = Parameter.columns("group-by", "one row for each of these values")
    private static let having = Parameter.predicate("having", "which groups: 'count:(name) > 1', or by name '$total > 1000'")
    private static let offset = Parameter.integer("offset", "leaves out the first N").or(0)
    private static let format = Parameter.choice(
        "format", Format.self, "a table for people, CSV, one JSON array, or an object a line"
    ).or(.table)
    private static let width = Parameter.integer(
        "width", from: 1, "cuts the table's lines to so many columns; without it to the terminal's width, and elsewhere nothing is cut")
    private static let count = Parameter.flag(
        "count", "shows only the number of rows; each row is read, so that damage is reported, but none of its values")
    private static let explain = Parameter.flag(
        "explain", "shows only how the rows are found: by which index, rows visited, rows matched")

    static let declaration = CommandDeclaration(
        "Shows, groups and counts an entity's objects.",
        [
            CommandForm(
                [Self.store, Self.entity],
                options: [
                    FetchOptions.condition, Self.search, searched, select, groupBy, Self.having, FetchOptions.order, FetchOptions.limit,
                    Self.offset, Self.format, OutputFile.option, Self.width, Excerpt.option, count, explain, PastOption.option,
                    CoreDataStore.option, DamagedStore.option,
                ],
                rules: [.excludes(count, [explain]), .needs(Self.having, groupBy), .needs(searched, Self.search)])
        ],
        databases: .taken, exits: [.done, .failed, .wrongUsage, .doubts],
        discussion: """
            \(FetchOptions.constants)

            Of groups, --sort takes a column that is grouped by or selected.

            Without sorting and groups rows are written as they are found. In JSON a property without a value is left out, in CSV it is empty.
            """,
        examples: [
            .init("query app.heartwood Person --where 'age > 30' --sort name --limit 5", "the first five by name"),
            .init("query app.heartwood Person --select 'group.name,@count AS people' --group-by group.name", "a row for each group"),
            .init("query app.heartwood Person --where 'ANY friends.name == \"Ada\"' --explain", "how a store finds them"),
        ])

    let outputFile: String?
    private let store: String
    private let entity: String
    private let predicate: NSPredicate?
    private let search: TextSearch?
    private let selected: [QueryColumn]
    private let groups: [QueryColumn]
    private let having: NSPredicate?
    private let sort: [NSSortDescriptor]
    private let limit: Int
    private let offset: Int
    private let format: Format
    private let excerpt: Excerpt
    private let width: Int?
    private let counts: Bool
    private let explains: Bool
    private let acceptsDamage: Bool
    private let modelFile: String?
    private let past: PastCommit?

    init(_ arguments: Arguments) throws {
        outputFile = try arguments[OutputFile.option]
        (store, entity) = (try arguments[Self.store], try arguments[Self.entity])
        predicate = try arguments[FetchOptions.condition]
        search = try QueryText.search(
            try arguments[Self.search], in: try arguments[Self.searched], isSorted: arguments.has(FetchOptions.order))
        having = try arguments[Self.having]
        selected = try arguments[Self.select]
        groups = try arguments[Self.groupBy]
        sort = try arguments[FetchOptions.order]
        limit = try arguments[FetchOptions.limit] ?? 0
        offset = try arguments[Self.offset]
        width = try arguments[Self.width]
        format = try arguments[Self.format]
        excerpt = try arguments[Excerpt.option] ? .full : .screen
        counts = try arguments[Self.count]
        explains = try arguments[Self.explain]
        acceptsDamage = try arguments[DamagedStore.option]
        modelFile = try arguments[CoreDataStore.option]
        past = try arguments[PastOption.option]
    }

    func run() throws -> Int32 {
        let open = try OpenStore(path: store, modelFile: modelFile, isReadOnly: true, acceptsDamage: acceptsDamage, at: past)
        let described = try open.entity(entity)
        var columns = selected.isEmpty ? groups : selected
        if columns.isEmpty {
            let attributes = described.orderedProperties.filter { $0 is NSAttributeDescription && !$0.isTransient }
            columns = (counts ? Self.leastToRead(attributes) : attributes).map { QueryColumn(path: $0.name) }
        }
        let request = NSFetchRequest<NSDictionary>(entityName: described.name ?? "")
        request.resultType = .dictionaryResultType
        request.predicate = try open.meant(predicate, about: described)
        request.textSearch = search
        request.propertiesToFetch = columns.map(\.property)
        request.propertiesToGroupBy = groups.map(\.property)
        request.havingPredicate = try open.meant(having, about: described, columns: columns)
        request.sortDescriptors = sort
        request.fetchLimit = limit
        request.fetchOffset = offset
        do {
            if counts {
                // An index tells the number at once, also if rows cannot be read any more. A count of a damaged store is no number, so the
                // rows are read, with one value of each.
                var count = 0
                try open.context.forEachResult(request) { _ in
                    count += 1
                    return true
                }
                Output.line("\(count)")
            } else if explains {
                Output.lines(try open.context.explain(request).lines)
            } else {
                let writer = try writer(columns.map(\.name))
                try open.context.forEachResult(request) { cells in
                    try writer.row(cells)
                    return true
                }
                try writer.finish()
            }
        } catch {
            throw ToolError.ofRequest(error)
        }
        open.warnOfMissingFiles()
        return ReferenceDoubts.code(open.doubts)
    }

    /// One attribute whose values cost little, since each row that is counted is read; all of them if there is none.
    private static func leastToRead(_ attributes: [NSPropertyDescription]) -> [NSPropertyDescription] {
        let cheap: [NSAttributeType] = [
            .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .dateAttributeType, .stringAttributeType,
        ]
        let found = cheap.lazy.compactMap { type in attributes.first { ($0 as? NSAttributeDescription)?.attributeType == type } }.first
        return found.map { [$0] } ?? attributes
    }

    private func writer(_ names: [String]) throws -> any RowWriter {
        switch format {
        case .table: TableWriter(names, width: width ?? Output.terminalWidth, excerpt)
        case .csv: try CSVWriter(names)
        case .json: JSONWriter(names, isArray: true)
        case .jsonl: JSONWriter(names, isArray: false)
        }
    }
}

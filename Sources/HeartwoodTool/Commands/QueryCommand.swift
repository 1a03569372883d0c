import Foundation
import Heartwood
import RecordLog

struct QueryCommand: Command {
    static let name = "query"
    static let summary = "show, group and count an entity's objects"
    static let help = """
        USAGE: heartwood query STORE ENTITY [OPTIONS]

          --where PREDICATE     which objects: 'age > 30 AND name BEGINSWITH "A"'. A date is CAST(SECONDS, "NSDate"), with seconds since
                                2001, which are those since 1970 less 978307200; compared with a text it finds nothing
          --search WORDS        objects whose texts have all these words, the most relevant first unless --sort is given; a word that ends
                                with * stands for all words that start with it, if it is the last one
          --search-in LIST      the attributes of text to search. Default: those with a text index; without any, all of text
          --select LIST         what of them: attributes, key paths such as group.name, and expressions such as 'length:(name)'; an
                                aggregate, such as 'sum:(size)' or '@count', is over all of them, or over each group. Name an
                                expression with AS: 'sum:(size) AS total'. Default: the attributes
          --group-by LIST       one row for each of these values
          --having PREDICATE    which groups: 'count:(name) > 1', or by name '$total > 1000'
          --sort KEYS           name,age:desc or name,-age; of groups a column that is grouped by or selected. Texts are sorted by their bytes;
                                name:caseInsensitive, name:localized, name:localizedCaseInsensitive and name:localizedStandard
                                sort them as people do
          --limit N, --offset N
          --format FORMAT       table (default), csv, json (one array), jsonl (one object a line)
          --width N             cut the table's lines to so many columns (default: the terminal's width; elsewhere nothing is cut)
          --count               show only the number of rows; each row is read, so that damage is reported, but none of its values
          --explain             show only how the rows are found: by which index, rows visited, rows matched
        \(PastOption.help)
        \(CoreDataStore.help)
        \(DamagedStore.help)

        Without sorting and groups rows are written as they are found. In JSON a property without a value is left out, in CSV it is empty.
        Exit code: 0 done; 1 failed; 2 wrong usage, or not a store; \(ReferenceDoubts.help).
        """
    static let options: Set<String> = [
        "where", "search", "search-in", "select", "group-by", "having", "sort", "limit", "offset", "format", "width", PastOption.name,
        CoreDataStore.option,
    ]
    static let flags: Set<String> = ["count", "explain", DamagedStore.flag]

    private enum Format: String {
        case table, csv, json, jsonl
    }

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
    private let width: Int?
    private let counts: Bool
    private let explains: Bool
    private let acceptsDamage: Bool
    private let modelFile: String?
    private let past: PastCommit?

    init(_ arguments: Arguments) throws {
        let names = try arguments.exactly(["STORE", "ENTITY"])
        (store, entity) = (names[0], names[1])
        predicate = try QueryText.predicate(arguments["where"])
        search = try QueryText.search(arguments["search"], in: arguments["search-in"], isSorted: arguments["sort"] != nil)
        having = try QueryText.predicate(arguments["having"])
        selected = try QueryColumn.list(arguments["select"])
        groups = try QueryColumn.list(arguments["group-by"])
        sort = QueryText.order(arguments["sort"])
        limit = try arguments.integer("limit", default: 0)
        offset = try arguments.integer("offset", default: 0)
        width = arguments["width"] == nil ? nil : try arguments.integer("width", default: 0, from: 1)
        guard let format = Format(rawValue: arguments["format"] ?? "table") else {
            throw ToolError.usage("--format is table, csv, json or jsonl, not \"\(arguments["format"] ?? "")\"")
        }
        self.format = format
        counts = arguments.has("count")
        explains = arguments.has("explain")
        acceptsDamage = arguments.has(DamagedStore.flag)
        modelFile = arguments[CoreDataStore.option]
        past = try PastOption.value(arguments)
        guard !counts || !explains else { throw ToolError.usage("--count and --explain exclude each other") }
        guard having == nil || !groups.isEmpty else { throw ToolError.usage("--having needs --group-by") }
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
        request.predicate = predicate
        request.textSearch = search
        request.propertiesToFetch = columns.map(\.property)
        request.propertiesToGroupBy = groups.map(\.property)
        request.havingPredicate = having
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
        case .table: TableWriter(names, width: width ?? Output.terminalWidth)
        case .csv: try CSVWriter(names)
        case .json: JSONWriter(names, isArray: true)
        case .jsonl: JSONWriter(names, isArray: false)
        }
    }
}

import Foundation
import Heartwood
import HeartwoodPostgreSQL
import RecordLog

struct ExportCommand: Command {
    static let name = "export"

    private enum Format: String, CaseIterable {
        case jsonl, csv, sqlite
    }

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()
    private static let entity = Parameter.text("entity", "E", .entity, "the objects of this entity")
    private static let all = Parameter.flag(
        "all",
        """
        the whole store: each line says which object it is ("@id", its URI) and of which entity ("@entity"), relationships are {"@id": URI}, and \
        `heartwood import NEW --model M FILE` makes an equal store of it
        """)
    private static let ids = Parameter.flag(
        "ids", "\"@id\" and \"@entity\" for one entity's objects, so that an import can connect those without keys")
    private static let select = Parameter<[String]?>(
        ParameterDeclaration(name: "select", placeholder: "LIST", kind: .attributes, meaning: "these attributes and relationships only")
    ) { _, text in QueryText.list(text) }
    private static let format = Parameter.choice("format", Format.self, "an object a line, CSV, or the whole store as an SQLite file").or(.jsonl)

    static let declaration = CommandDeclaration(
        "Writes objects as JSON Lines or CSV, or a store as SQLite.",
        [
            CommandForm(
                [Self.store],
                options: [
                    Self.entity, all, select, FetchOptions.condition, FetchOptions.order, FetchOptions.limit, format, ids, DatabaseExport.output,
                    DatabaseExport.model, DatabaseExport.plain, PastOption.option, DamagedStore.option,
                ],
                rules: [.excludes(all, [Self.entity, select, FetchOptions.condition, FetchOptions.order, FetchOptions.limit])])
        ],
        databases: .taken, exits: [.done, .failed, .wrongUsage, .doubts],
        discussion: """
            Writes one object a line to standard output, of one entity with --entity, of every entity with --all. A relationship is written as
            its destinations' keys where their entity has a uniqueness constraint, else as their URIs; of two inverses on the same entity, the
            one that the model states first, and the second too where it has an order. A property without a value is left out, so that imported
            JSON Lines come back equal. Dates are ISO 8601 in UTC, seconds since 1970 before the year 1 and after 9999. Numbers have all the
            digits that lead back to them; "inf", "-inf" and "nan" are texts. A transformable's value is a text where it is one, else "@data:"
            and its bytes in base 64. In CSV the members of a to-many relationship are separated by semicolons; a semicolon or a backslash of a
            key has a backslash before it.

            \(FetchOptions.constants)

            --format sqlite writes the whole store to a new file in Core Data's layout, for apps on Apple's platforms: tables, columns, keys and
            indexes as Core Data makes them (without those that have a condition, are over expressions, or of other kinds than binary: these
            are named), external data in the rows, no history. Objects keep their URIs, unless two entities of one hierarchy have the same
            number; that is said. Decimals keep 15 to 17 digits, as in Core Data.
            """,
        examples: [
            .init("export app.heartwood --entity Person --where 'age > 30' --sort name,-age", "some objects, an object a line"),
            .init("export app.heartwood --all > app.jsonl", "everything, for an import into a new store"),
            .init("export app.heartwood --format sqlite -o App.sqlite --model App.momd", "a file for Core Data"),
        ])

    let outputFile: String?
    private let store: String
    /// nil for all entities.
    private let entity: String?
    private let labels: Bool
    /// nil for all that an import needs.
    private let selected: [String]?
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
        store = try arguments[Self.store]
        entity = try arguments[Self.entity]
        let isWhole = try arguments[Self.all], format = try arguments[Self.format]
        outputFile = format == .sqlite ? nil : try arguments[DatabaseExport.output]
        labels = try arguments[Self.ids] || isWhole
        limit = try arguments[FetchOptions.limit] ?? 0
        predicate = try arguments[FetchOptions.condition]
        sort = try arguments[FetchOptions.order]
        acceptsDamage = try arguments[DamagedStore.option]
        modelFile = try arguments[DatabaseExport.model]
        past = try arguments[PastOption.option]
        isCSV = format == .csv
        selected = try arguments[Self.select]
        let parts = [Self.entity, Self.select, FetchOptions.condition, FetchOptions.order, FetchOptions.limit] as [any DeclaredParameter]
        guard format == .sqlite else {
            database = nil
            guard !arguments.has(DatabaseExport.plain) else { throw ToolError.usage("\(DatabaseExport.plain.title) goes with --format sqlite only") }
            guard !isWhole || !isCSV else { throw ToolError.usage("\(Self.all.title) writes every object as JSON Lines, not as CSV") }
            guard isWhole || entity != nil else { throw ToolError.usage("\(Self.entity.title) or \(Self.all.title) is missing") }
            return
        }
        if let other = arguments.first(of: parts + [Self.ids]) {
            throw ToolError.usage("--format sqlite writes the whole store; it does not go with \(other.title)")
        }
        database = try DatabaseExport(arguments)
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
        request.predicate = try open.meant(predicate, about: entity)
        request.sortDescriptors = sort
        request.fetchLimit = limit
        let selected = try selected.map { try RecordWriter.properties($0, of: entity) }
        try RecordWriter(entity: entity, labels: labels, isCSV: isCSV, selected: selected, output: output, dangling: dangling)
            .write(request, open.context)
    }
}

import Foundation
import Heartwood
import HeartwoodSQLite

struct ConvertCommand: Command {
    static let name = "convert"

    private static let source = Parameter.argument(
        "STORE", .store, "an SQLite store of Core Data's or SwiftData's, a record log, or the URL of a store in a database"
    ).required()
    private static let new = Parameter.argument("NEW", .store, "the new store, in place of -o")
    private static let output = Parameter.output("NEW", .store, "the new store: a file, or postgresql://HOST/DATABASE?schema=NAME")
    private static let model = CoreDataStore.option.meaning(
        """
        the model: an .xcdatamodeld, .xcdatamodel, .momd, .mom or a store. Without it the model in the SQLite store is used, or one is guessed \
        from the tables. If the store is of another version, NEW is brought to this one
        """)
    private static let unrelated = Parameter.flag(
        "allow-unrelated",
        "brings NEW to the version of M even if that has no entity in common with the store's model, so that no object is left")
    private static let history = Parameter.flag("with-history", "keeps the transactions of the persistent history")
    private static let unverified = Parameter.flag(
        "no-verify", "only counts the objects of NEW; without it every row of NEW is read once more")
    private static let dryRun = Parameter.flag(
        "dry-run",
        "reports the same, and keeps nothing: a file in the folder for temporary files is written, verified and removed; for SQLite stores")

    static let declaration = CommandDeclaration(
        "Makes a store of an SQLite store of Core Data's, or moves a store into a PostgreSQL database or out of it.",
        [
            CommandForm(
                [Self.source, new], options: [output, Self.model, history, unverified, dryRun, unrelated],
                rules: [.excludes(new, [output, dryRun])])
        ], databases: .taken,
        exits: [
            .done, ExitCode(1, "failed, or a dry run found that a conversion would fail"), ExitCode(2, "wrong usage, or no Core Data store"),
            .doubts,
        ],
        discussion: """
            Reads APP.sqlite with its log and its external data, and changes nothing there. NEW gets every object under its own key and the
            store's identifier, so that URIs that an app has saved still lead to their objects. NEW is verified before it gets its name.
            The app that owns APP.sqlite may run meanwhile; what it saves after the conversion is not in NEW.

            References that lead nowhere and external data whose files are missing are listed and left out. Objects with the same values of
            a uniqueness constraint are listed, and nothing is converted.
            Without a model in APP.sqlite relationships are guessed by names and keys. Those that are not sure are listed; NEW keeps the list,
            and `verify` and `inspect` show it.

            Into a database: each table is sent in a transaction of its own, and read back before it ends. The same command again goes on where
            a conversion was cut off. STORE is a record log, or an SQLite store, which goes through a record log in the folder for temporary
            files. Out of a database: NEW has the rows as of one moment. Both keep the keys of objects and the store's identifier, and leave
            the history out.
            """,
        examples: [
            .init("convert App.sqlite --dry-run", "what a conversion would find"),
            .init("convert App.sqlite -o App.heartwood --with-history", "makes a record log of it"),
            .init("convert App.heartwood -o 'postgresql://localhost/graph?schema=app'", "moves a store into a database"),
        ])

    private let source: String
    private let target: String?
    private let model: String?
    private let keepsHistory: Bool
    private let verifies: Bool
    private let acceptsUnrelated: Bool

    init(_ arguments: Arguments) throws {
        source = try arguments[Self.source]
        let given = try arguments[Self.output] ?? arguments[Self.new]
        model = try arguments[Self.model]
        keepsHistory = try arguments[Self.history]
        verifies = try !arguments[Self.unverified]
        acceptsUnrelated = try arguments[Self.unrelated]
        let isDry = try arguments[Self.dryRun]
        guard given != nil || isDry else { throw ToolError.usage("\(Self.output.title) is missing") }
        target = isDry ? nil : given
    }

    func run() throws -> Int32 {
        if let target, DatabaseStore.isOne(source) || DatabaseStore.isOne(target) {
            guard model == nil, !keepsHistory, !acceptsUnrelated else {
                throw ToolError.usage("--model, --with-history and --allow-unrelated are for SQLite stores that become record logs")
            }
            return try DatabaseConversion(source, to: target, verifies: verifies).run()
        }
        try DatabaseStore.refuse([source], "a dry run is for SQLite stores")
        _ = try CoreDataStore.file(source)
        let loaded = try model.map { (model: try LoadedModel(path: $0).model, file: URL(fileURLWithPath: $0)) }
        let bar = ProgressBar(target == nil ? "reading" : "converting")
        let conversion = SQLiteConversion(
            URL(fileURLWithPath: source), model: loaded, keepsHistory: keepsHistory, verifies: verifies,
            acceptsUnrelated: acceptsUnrelated, progress: bar.update)
        defer { bar.finish() }
        let report = try target.map { try conversion.run(to: URL(fileURLWithPath: $0)) } ?? conversion.check()
        bar.finish()
        Output.lines(ConversionSummary(report, source: source, target: target).lines)
        return report.repetitions.count == 0 ? ReferenceDoubts.code(report.references) : 1
    }
}

import Foundation
import Heartwood
import HeartwoodSQLite

struct ConvertCommand: Command {
    static let name = "convert"
    static let summary = "make a store of an SQLite store of Core Data's, or move a store into a PostgreSQL database or out of it"
    static let help = """
        USAGE: heartwood convert APP.sqlite -o NEW [--model MODEL] [--with-history] [--no-verify] [--allow-unrelated]
               heartwood convert APP.sqlite --dry-run [--model MODEL] [--with-history]
               heartwood convert STORE -o postgresql://HOST/DATABASE?schema=NAME [--no-verify]
               heartwood convert postgresql://HOST/DATABASE?schema=NAME -o NEW [--no-verify]

        The new store may also be given behind the old one, without -o.

        Reads APP.sqlite with its log and its external data, and changes nothing there. NEW gets every object under its own key and the
        store's identifier, so that URIs that an app has saved still lead to their objects. NEW is verified before it gets its name.
        The app that owns APP.sqlite may run meanwhile; what it saves after the conversion is not in NEW.

          --model M        the model: an .xcdatamodeld, .xcdatamodel, .momd, .mom or a store. Without it the model in APP.sqlite is
                           used, or one is guessed from the tables. If APP.sqlite is of another version, NEW is brought to this one
          --allow-unrelated   bring NEW to the version of M even if that has no entity in common with APP.sqlite's model, so that no
                           object is left
          --with-history   keep the transactions of the persistent history
          --no-verify      only count the objects of NEW; without it every row of NEW is read once more
          --dry-run        report the same, and keep nothing: a file in the folder for temporary files is written, verified and removed

        References that lead nowhere and external data whose files are missing are listed and left out. Objects with the same values of
        a uniqueness constraint are listed, and nothing is converted.
        Without a model in APP.sqlite relationships are guessed by names and keys. Those that are not sure are listed; NEW keeps the list, and
        `verify` and `inspect` show it.

        Into a database: the rows are sent in one transaction, which also makes the tables, and are read back before it ends. A conversion that
        is cut off leaves nothing in the schema. STORE is a record log, or an SQLite store, which goes through a record log in the folder for
        temporary files. Out of a database: NEW has the rows as of one moment. Both keep the keys of objects and the store's identifier, and
        leave the history out. The password comes from PGPASSWORD, ~/.pgpass or a service file.

        Exit code: 0 done; 1 failed, or a dry run found that a conversion would fail; 2 wrong usage, or no Core Data store;
        \(ReferenceDoubts.help).
        """
    static let options: Set<String> = ["output", "model"]
    static let flags: Set<String> = ["with-history", "no-verify", "dry-run", "allow-unrelated"]

    private let source: String
    private let target: String?
    private let model: String?
    private let keepsHistory: Bool
    private let verifies: Bool
    private let acceptsUnrelated: Bool

    init(_ arguments: Arguments) throws {
        let isDry = arguments.has("dry-run")
        if arguments.positional.count == 2, !isDry, arguments["output"] == nil {
            (source, target) = (arguments.positional[0], arguments.positional[1])
        } else {
            source = try arguments.exactly(["STORE"])[0]
            target = isDry ? nil : try arguments.required("output")
        }
        model = arguments["model"]
        keepsHistory = arguments.has("with-history")
        verifies = !arguments.has("no-verify")
        acceptsUnrelated = arguments.has("allow-unrelated")
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

import Foundation
import Heartwood

struct ImportCommand: Command {
    static let name = "import"

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL; it is made if it is not there").required()
    private static let file = Parameter.argument("FILE", .file, "the records; - is standard input").required()
    private static let model = Parameter.text(
        "model", "M", .model, "the model, which may be an .xcdatamodeld; not needed for a store that exists")
    private static let entity = Parameter.text("entity", "E", .entity, "the entity of records that do not say theirs")
    private static let key = Parameter.text("key", "ATTR", .attributes, "the attribute that tells the objects of E apart")
    private static let format = Parameter.choice(
        "format", RecordFormat.self, "the form of the records; without it the file's name tells")
    private static let batch = Parameter.integer(
        "batch", from: 1,
        """
        records a save, so a crash leaves whole batches. A batch goes on while an object that its records name lacks a value that it needs
        """
    ).or(1000, shown: "1,000")
    private static let strict = Parameter.flag("strict", "refuses destinations that never come")
    private static let configuration = Parameter.text(
        "configuration", "NAME", "the model's configuration that a new store is made with; one that exists says its own")
    private static let lineMax = Parameter.integer(
        "line-max", placeholder: "BYTES", from: 1,
        "refuses a longer line, or a longer record of CSV. A record takes memory of about six times its length"
    ).or(256 << 20, shown: "268,435,456, which is 256 MiB")

    static let declaration = CommandDeclaration(
        "Reads JSON Lines, CSV or TSV into a store.",
        [
            CommandForm(
                [Self.store, Self.file], options: [Self.model, Self.entity, Self.key, Self.format, Self.batch, strict, Self.configuration, Self.lineMax],
                rules: [.needs(Self.key, Self.entity)])
        ], databases: .taken,
        discussion: """
            Each record has a value of --key, or a label (below). A record whose value is known already updates that object; the others are
            inserted. Under a relationship's name, a string or an array of strings connects the objects that have these values of the
            destination's uniqueness constraint, also such as come later in the file. An object that never comes is made with that
            value alone and counted; with --strict it is an error.

            A record may have a label, which is any text: "@id": "LABEL", and say of which entity it is: "@entity": "E". Then it
            needs no --key, and no --entity. A relationship names such a record, before or after its line, by {"@id": "LABEL"}, and
            where the destination has no uniqueness constraint over one attribute by "LABEL" alone. A record that is named before
            its line is of the entity that its label names, where that is an object's URI, or that "@entity" beside the label names,
            else of the relationship's destination. A label that no line has is the URI of an object of STORE, or an error.
            `heartwood export STORE --all` writes a whole store in this way.

            Dates are ISO 8601 (2024-02-29T12:30:00Z, or a day alone, which is its beginning; by UTC without a zone) or seconds since 1970, data is
            base 64. A value that its attribute cannot hold as it is written is refused with its line. In CSV and TSV the first line names the
            columns, an empty field is no value, and members of a to-many relationship are separated by semicolons; a semicolon or a backslash of a
            key has a backslash before it.
            """,
        examples: [
            .init("import app.heartwood --model App.xcdatamodeld --entity Person --key name people.csv", "makes a store"),
            .init("import app.heartwood --entity Person --key name more.jsonl", "adds to it, and updates persons that are there"),
        ])

    private let store: String
    private let file: String
    private let model: String?
    private let entity: String?
    private let key: String?
    private let configuration: String?
    private let format: RecordFormat
    private let batch: Int
    private let isStrict: Bool
    private let lineMax: Int

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        file = try arguments[Self.file]
        model = try arguments[Self.model]
        entity = try arguments[Self.entity]
        key = try arguments[Self.key]
        configuration = try arguments[Self.configuration]
        batch = try arguments[Self.batch]
        isStrict = try arguments[Self.strict]
        lineMax = try arguments[Self.lineMax]
        format = try arguments[Self.format] ?? RecordFormat(path: file)
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "\(CoreDataStore.conversion(store)), and import into that")
        // The input comes first, so that no store is made when there is nothing to read.
        let lines = try LineReader(path: file, lineMax: lineMax)
        if model == nil, try !NewStore.isThere(store) {
            throw ToolError.usage("--model is missing, and \(store) does not exist, or is empty")
        }
        let reader = try format.reader(lines)
        let loaded = try model.map { try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: $0)) }
            ?? (DatabaseStore.isOne(store) ? LoadedModel(path: store).model : StoredModel.read(at: URL(fileURLWithPath: store)))
        // Only a model in use lists the elements of composites among its properties.
        _ = NSPersistentStoreCoordinator(managedObjectModel: loaded)
        // Checked before a store is made.
        let part = try NewStore.configuration(of: store) ?? configuration
        let entities = loaded.entities(forConfigurationName: part) ?? loaded.entities
        let described = try entity.map { try OpenStore.entity($0, among: entities) }
        let attribute = try described.flatMap { described in try key.map { try RecordImporter.key(named: $0, of: described) } }
        var made = NewStore(at: store)
        let open = try OpenStore(path: store, model: loaded, configuration: configuration, isReadOnly: false)
        made.begin(open)
        let importer = RecordImporter(open: open, entity: described, key: attribute, batch: batch, isStrict: isStrict)
        let progress = ProgressBar("importing")
        let clock = ContinuousClock()
        let start = clock.now
        do {
            try importer.run(reader) { if let size = lines.size { progress.update(lines.position, of: size) } }
        } catch {
            progress.finish()
            made.discard(open)
            throw error
        }
        progress.finish()
        try open.close()
        Output.lines(importer.summary(seconds: (clock.now - start) / .seconds(1)))
        return 0
    }
}

import Foundation
import Heartwood
import HeartwoodPostgreSQL
import RecordLog

struct ModelCommand: Command {
    static let name = "model"

    private enum Format: String, CaseIterable {
        case table, json, svg, mermaid, sql
    }

    private static let file = Parameter.argument(
        "FILE", .model, "an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store, which carries its model"
    ).required()
    private static let old = Parameter.argument("OLD", .model, "the older model, or a store").required()
    private static let new = Parameter.argument("NEW", .model, "the newer one").required()
    private static let format = Parameter.choice(
        "format", Format.self,
        "a table for people, JSON, a drawing, a Mermaid class diagram, or the tables of a PostgreSQL store")
    private static let sql = Parameter.flag("sql", "as --format sql")
    private static let svg = Parameter.text("svg", "OUT", .file, "draws the model into the file OUT")
    private static let mermaid = Parameter.text("mermaid", "OUT", .file, "writes a Mermaid class diagram into the file OUT")
    private static let source = Parameter<String?>(
        ParameterDeclaration(
            name: "source", placeholder: "OUT", kind: .file,
            meaning: "writes the model as Xcode's source to OUT, an .xcdatamodeld or .xcdatamodel that is not there yet")
    ) { title, text in
        guard ["xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: text).pathExtension) else {
            throw ToolError.usage("\(title) makes an .xcdatamodeld or an .xcdatamodel, not \"\(text)\"")
        }
        return text
    }

    static let declaration = CommandDeclaration(
        "Shows, checks, draws and compares models.",
        [
            CommandForm(
                [file],
                options: [
                    Self.format, sql, OutputFile.option, Self.svg, Self.mermaid, Self.source, CoreDataStore.option, DamagedStore.option,
                ]),
            CommandForm(
                "diff",
                meaning: """
                    shows the changes, with renames by their renaming identifiers (elementID), and says whether a migration can be inferred. If \
                    not, it gives the reason, and the exit code is 1
                    """, [old, new], options: [OutputFile.option, CoreDataStore.option, DamagedStore.option],
                unused: [Self.format, sql, Self.svg, Self.mermaid, Self.source]),
        ],
        databases: .taken, exits: [.done, ExitCode(1, "failed, or no migration can be inferred"), .wrongUsage],
        discussion: """
            Shows each entity with its properties, then warns of things that are allowed but rarely meant. A Core Data store (.sqlite) has its
            model in its cache; without one --model names it, and else it is guessed from the tables, with a warning of what is not certain.
            """,
        examples: [
            .init("model App.xcdatamodeld --svg app.svg", "draws the model"),
            .init("model diff app.heartwood App.xcdatamodeld", "what a migration would change"),
        ])

    let outputFile: String?
    private let files: [String]
    private let isDifference: Bool
    private let acceptsDamage: Bool
    private let modelFile: String?
    private let format: Format
    private let svg: String?
    private let mermaid: String?
    private let source: String?

    init(_ arguments: Arguments) throws {
        acceptsDamage = try arguments[DamagedStore.option]
        modelFile = try arguments[CoreDataStore.option]
        isDifference = arguments.keyword != nil
        files = isDifference ? [try arguments[Self.old], try arguments[Self.new]] : [try arguments[Self.file]]
        format = try arguments[Self.format] ?? (arguments[Self.sql] ? .sql : .table)
        outputFile = try arguments[OutputFile.option]
        svg = try arguments[Self.svg]
        mermaid = try arguments[Self.mermaid]
        source = try arguments[Self.source]
    }

    func run() throws -> Int32 {
        guard !isDifference else { return try compare() }
        let loaded = try loaded(files[0])
        if let svg { try write(ModelSVG.text(loaded), to: svg) }
        if let mermaid { try write(ModelMermaid.text(loaded), to: mermaid) }
        if let source { try writeSource(of: loaded.model, to: source) }
        switch format {
        case .table:
            guard svg == nil, mermaid == nil, source == nil else { break }
            Output.lines(ModelTable.lines(loaded))
            let warnings = ModelCheck.warnings(loaded)
            if !warnings.isEmpty { Output.text("\n\(Output.count(warnings.count, "warning"))") }
            for warning in warnings { Output.line("  \(warning.line)") }
        case .json: Output.data(try json(loaded))
        case .svg: Output.data(ModelSVG.text(loaded))
        case .mermaid: Output.data(ModelMermaid.text(loaded))
        case .sql: Output.data(try SchemaText.of(loaded.model.entities))
        }
        return 0
    }

    private func loaded(_ path: String) throws -> LoadedModel { try LoadedModel(path: path, modelFile: modelFile, acceptsDamage: acceptsDamage) }

    private func compare() throws -> Int32 {
        let difference = ModelDifference(from: try loaded(files[0]), to: try loaded(files[1]))
        Output.lines(difference.lines)
        return difference.isSameVersion || difference.obstacles.isEmpty ? 0 : 1
    }

    private func json(_ loaded: LoadedModel) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(ModelDocument(loaded.model)), as: UTF8.self)
    }

    private func writeSource(of model: NSManagedObjectModel, to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ToolError.usage("there is \(path) already, which may have more than a store can tell; remove it or give another name")
        }
        do {
            try ModelFileWriter.write(model, to: URL(fileURLWithPath: path))
        } catch {
            throw ToolError.failure("\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    private func write(_ text: String, to path: String) throws {
        guard URL(fileURLWithPath: path).resolvingSymlinksInPath() != URL(fileURLWithPath: files[0]).resolvingSymlinksInPath() else {
            throw ToolError.usage("\(path) is the model to draw, and would be overwritten; give another file")
        }
        do {
            try OutputFile.replace(path, with: Data((text + "\n").utf8))
        } catch {
            throw ToolError.failure("\(path) cannot be written: \(error.message)")
        }
    }
}

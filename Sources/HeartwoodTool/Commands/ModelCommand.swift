import Foundation
import Heartwood
import HeartwoodPostgreSQL
import RecordLog

struct ModelCommand: Command {
    static let name = "model"
    static let summary = "show, check, draw and compare models"
    static let help = """
        USAGE: heartwood model FILE [--format table|json|svg|mermaid|sql] [--svg OUT] [--mermaid OUT] [--source OUT] [--model M]
               heartwood model diff OLD NEW

        FILE is an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store, which carries its model. A Core Data store (.sqlite) has
        it in its cache; without one --model names it, and else it is guessed from the tables, with a warning of what is not certain.
        Shows each entity with its properties, then warns of things that are allowed but rarely meant.

          --format F      table (the default), json, svg, a Mermaid class diagram, or the tables of a PostgreSQL store, on standard output
          --sql           as --format sql
          --svg OUT       draw the model into the file OUT
          --mermaid OUT   write a Mermaid class diagram into the file OUT
          --source OUT    write the model as Xcode's source to OUT, an .xcdatamodeld or .xcdatamodel that is not there yet
        \(CoreDataStore.help)
        \(DamagedStore.help)

        diff shows the changes, with renames by their renaming identifiers (elementID), and says whether a migration can be inferred.
        If not, it gives the reason, and the exit code is 1.
        """
    static let options: Set<String> = ["format", "svg", "mermaid", "source", CoreDataStore.option]
    static let flags: Set<String> = [DamagedStore.flag, "sql"]

    private enum Format: String, CaseIterable {
        case table, json, svg, mermaid, sql
    }

    private let files: [String]
    private let isDifference: Bool
    private let acceptsDamage: Bool
    private let modelFile: String?
    private let format: Format
    private let svg: String?
    private let mermaid: String?
    private let source: String?

    init(_ arguments: Arguments) throws {
        acceptsDamage = arguments.has(DamagedStore.flag)
        modelFile = arguments[CoreDataStore.option]
        isDifference = arguments.positional.first == "diff" && arguments.positional.count > 1
        files = isDifference ? Array(try arguments.exactly(["diff", "OLD", "NEW"]).dropFirst()) : try arguments.exactly(["FILE"])
        let given = arguments["format"] ?? (arguments.has("sql") ? Format.sql : .table).rawValue
        guard let known = Format(rawValue: given) else {
            throw ToolError.usage("--format is \(Format.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(given)\"")
        }
        format = known
        svg = arguments["svg"]
        mermaid = arguments["mermaid"]
        source = arguments["source"]
        if let source, !["xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: source).pathExtension) {
            throw ToolError.usage("--source makes an .xcdatamodeld or an .xcdatamodel, not \"\(source)\"")
        }
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

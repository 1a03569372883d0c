import Foundation
import HeartwoodModelCode
import RecordLog

struct GenerateCommand: Command {
    static let name = "generate"
    static let summary = "write the classes of a model"
    static let help = """
        USAGE: heartwood generate MODEL|STORE -o DIR [--import MODULE] [--all] [--model M]
               heartwood generate MODEL|STORE -o DIR --swiftdata [--model M]

        Writes ENTITY+CoreDataClass.swift and ENTITY+CoreDataProperties.swift into DIR, as Xcode does: both for entities whose Codegen
        is Class Definition, the second alone for Category/Extension, neither for Manual/None. Files that are up to date are left.
        MODEL is an .xcdatamodeld, .xcdatamodel, .momd or .mom. Compiled models do not say which Codegen they ask for: all classes that
        they name are written. STORE is a Core Data or SwiftData store (.sqlite) or a store of Heartwood's: each entity gets a class,
        which is named like the entity where the store's model names none. If --model names a model's source, its Codegen counts.
        Packages need not call this: the plugin HeartwoodModels does it when it is named on a target.

          --import MODULE   what the code imports: CoreData (default) or Heartwood
          --all             both files for every entity with a class of its own
          --swiftdata       ENTITY.swift with a @Model class for each entity, which imports SwiftData. A container of these classes opens
                            stores of the model. What the model says and a class cannot say is a comment in the code and a warning
        \(CoreDataStore.help)
        """
    static let options: Set<String> = ["output", "import", CoreDataStore.option]
    static let flags: Set<String> = ["all", "swiftdata"]

    private let model: String
    private let folder: String
    private let imported: String
    private let writesAll: Bool
    private let writesModels: Bool
    private let modelFile: String?

    init(_ arguments: Arguments) throws {
        model = try arguments.exactly(["MODEL"])[0]
        modelFile = arguments[CoreDataStore.option]
        folder = try arguments.required("output")
        imported = arguments["import"] ?? "CoreData"
        guard ["CoreData", "Heartwood"].contains(imported) else {
            throw ToolError.usage("--import is CoreData or Heartwood, not \"\(imported)\"")
        }
        writesAll = arguments.has("all")
        writesModels = arguments.has("swiftdata")
        guard !writesModels || !writesAll && arguments["import"] == nil else {
            throw ToolError.usage("--swiftdata writes a class for each entity, and imports SwiftData: leave out --all and --import")
        }
    }

    func run() throws -> Int32 {
        let files: [(name: String, text: String)]
        do {
            files = writesModels
                ? try modelClasses() : ClassWriter(try codeModel(), importing: imported, all: writesAll).files().map { ($0.name, $0.text) }
        } catch let error as CodeError {
            throw ToolError.failure(error.description)
        }
        let directory = URL(fileURLWithPath: folder)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let disk = POSIXFileSystem()
        var written = 0
        for file in files {
            let url = directory.appendingPathComponent(file.name)
            let data = Data(file.text.utf8)
            // A pipe or a device is neither read nor written.
            if try disk.identity(of: url.path) != nil { _ = try disk.open(url.path, .readOnly) }
            if FileManager.default.contents(atPath: url.path) == data { continue }
            // In place: an atomic write waits for the disk once a file. The next run rewrites a file that a crash left half-written.
            try data.write(to: url)
            written += 1
        }
        Output.line(
            files.isEmpty
                ? "No entity of \(model) "
                    + (writesAll ? "has a class of its own." : "asks for generated code; --all writes all that have a class.")
                : "\(Output.count(files.count, "file")), \(Output.number(written)) of them written to \(folder).")
        return 0
    }

    private func modelClasses() throws -> [(name: String, text: String)] {
        var reader = try ModelClassReader(LoadedModel(path: model, modelFile: modelFile).model, path: model)
        let files = try reader.files()
        reader.remarks.forEach(CoreDataStore.warn)
        return files.map { ($0.name, $0.text) }
    }

    private func codeModel() throws -> CodeModel {
        guard !DatabaseStore.isOne(model) else { return try StoreCodeModel.read(model, modelFile: modelFile) }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: model, isDirectory: &isDirectory), !isDirectory.boolValue,
            CoreDataStore.isOne(model) || LoadedModel.isStore(URL(fileURLWithPath: model))
        else { return try CodeModelReader.read(model) }
        return try StoreCodeModel.read(model, modelFile: modelFile)
    }
}

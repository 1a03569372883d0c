import Foundation
import HeartwoodModelCode
import RecordLog

struct GenerateCommand: Command {
    static let name = "generate"

    private enum Module: String, CaseIterable {
        case coreData = "CoreData", heartwood = "Heartwood"
    }

    private static let model = Parameter.argument(
        "MODEL", .model, "an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store's file or URL"
    ).required()
    private static let output = Parameter.output("DIR", .folder, "the folder for the files").required()
    private static let imported = Parameter.choice("import", Module.self, "what the code imports").or(.coreData, shown: Module.coreData.rawValue)
    private static let all = Parameter.flag("all", "both files for every entity with a class of its own")
    private static let swiftData = Parameter.flag(
        "swiftdata",
        """
        ENTITY.swift with a @Model class for each entity, which imports SwiftData. A container of these classes opens stores of the model. What \
        the model says and a class cannot say is a comment in the code and a warning
        """)

    static let declaration = CommandDeclaration(
        "Writes the classes of a model.", [
            CommandForm(
                [Self.model], options: [output, Self.imported, all, swiftData, CoreDataStore.option],
                rules: [.excludes(swiftData, [all, Self.imported])])
        ],
        databases: .taken,
        discussion: """
            Writes ENTITY+CoreDataClass.swift and ENTITY+CoreDataProperties.swift into DIR, as Xcode does: both for entities whose Codegen
            is Class Definition, the second alone for Category/Extension, neither for Manual/None. Files that are up to date are left.
            Compiled models do not say which Codegen they ask for: all classes that they name are written. Of a store (a Core Data or SwiftData
            store, or a store of Heartwood's) each entity gets a class, which is named like the entity where the store's model names none. If
            --model names a model's source, its Codegen counts.

            Packages need not call this: the plugin HeartwoodModels does it when it is named on a target.
            """,
        examples: [
            .init("generate App.xcdatamodeld -o Sources/App", "classes as Xcode makes them"),
            .init("generate App.sqlite -o Sources/App --swiftdata", "@Model classes for a store"),
        ])

    private let model: String
    private let folder: String
    private let imported: String
    private let writesAll: Bool
    private let writesModels: Bool
    private let modelFile: String?

    init(_ arguments: Arguments) throws {
        model = try arguments[Self.model]
        modelFile = try arguments[CoreDataStore.option]
        folder = try arguments[Self.output]
        imported = try arguments[Self.imported].rawValue
        writesAll = try arguments[Self.all]
        writesModels = try arguments[Self.swiftData]
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
        reader.remarks.forEach(Output.warning)
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

import Foundation
import Heartwood
import HeartwoodModelCode

struct CompileCommand: Command {
    static let name = "compile"

    private static let models = Parameter.argument(
        "MODEL", .model, "an .xcdatamodeld, .xcdatamodel or .xcmappingmodel; several are compiled one after the other"
    ).repeated().required()
    private static let output = Parameter.output("DIR", .folder, "the folder for the files").required()

    static let declaration = CommandDeclaration(
        "Makes a .momd, .mom or .cdm of a model's source.", [CommandForm([Self.models], options: [output])],
        databases: .refused("`heartwood model` shows its model, and --source writes it"),
        discussion: """
            Makes DIR/NAME.momd of a NAME.xcdatamodeld, NAME.mom of an .xcdatamodel, and NAME.cdm of an .xcmappingmodel, so that code finds
            the files that Xcode's compiler would make. A .momd has each version, and a VersionInfo.plist with the current version's name
            and the entities' version hashes. Heartwood reads them; Core Data does not.

            Packages need not call this: the plugin HeartwoodModels makes them resources of the target that it is named on.
            """,
        examples: [.init("compile App.xcdatamodeld -o Resources", "makes Resources/App.momd")])

    private let models: [String]
    private let folder: String

    init(_ arguments: Arguments) throws {
        models = try arguments[Self.models]
        folder = try arguments[Self.output]
    }

    func run() throws -> Int32 {
        // All are checked before anything is written.
        let names = try models.map(check)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (model, name) in zip(models, names) {
            let path = URL(fileURLWithPath: model).path
            do {
                try ModelCompiler.compile(path, to: "\(folder)/\(name)") { contents in
                    try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: contents)).entityVersionHashesByName
                }
            } catch let error as CodeError {
                throw ToolError.failure(error.description)
            }
            Output.line("\(folder)/\(name)")
        }
        return 0
    }

    /// Returns the name of the output.
    /// - Throws: if there is no such model, or it cannot be loaded.
    private func check(_ model: String) throws -> String {
        let url = URL(fileURLWithPath: model)
        guard let name = ModelCompiler.name(of: url.path) else {
            throw ToolError.usage("\(model) is no .xcdatamodeld, .xcdatamodel or .xcmappingmodel")
        }
        guard FileManager.default.fileExists(atPath: url.path) else { throw ToolError.usage("there is no \(model)") }
        if url.pathExtension == "xcmappingmodel" {
            _ = try NSMappingModel.load(contentsOf: url)
        } else {
            _ = try NSManagedObjectModel.load(contentsOf: url)
        }
        return name
    }
}

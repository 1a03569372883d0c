import Foundation
import PackagePlugin

/// Generates a target's classes and the accessors of its `@NSManaged` properties from the model files in its folder.
@main
struct HeartwoodModels: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let (models, parts) = Self.models(in: target.directoryURL)
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url).sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL.appending(path: "\(target.moduleName)+Models.swift")
        let usesShim = target.dependencies.contains { dependency in
            switch dependency {
            case .product(let product): product.name == "CoreData"
            case .target(let target): target.name == "CoreData"
            @unknown default: false
            }
        }
        let inputs = models + sources
        return [
            .buildCommand(
                displayName: "Generating classes of \(target.name)",
                executable: try context.tool(named: "heartwood-generate").url,
                arguments: [target.moduleName, usesShim ? "CoreData" : "Heartwood", output.path] + inputs.map(\.path),
                inputFiles: parts + sources, outputFiles: [output])
        ]
    }

    /// The models below a folder, and the files that they are made of.
    private static func models(in folder: URL) -> (models: [URL], parts: [URL]) {
        var models: [URL] = []
        var parts: [URL] = []
        let paths = (FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []).sorted()
        for path in paths {
            let pieces = path.split(separator: "/")
            guard let model = pieces.firstIndex(where: { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".xcdatamodel") }) else { continue }
            if model == pieces.count - 1 { models.append(folder.appending(path: path)) }
            if ["contents", ".xccurrentversion"].contains(pieces[pieces.count - 1]) { parts.append(folder.appending(path: path)) }
        }
        return (models, parts)
    }
}

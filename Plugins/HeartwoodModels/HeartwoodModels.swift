import Foundation
import PackagePlugin

/// Generates a target's classes and the accessors of its `@NSManaged` properties from the model files in its folder. Copies the models to resources
/// with the names that Xcode's compiler uses: `Model.momd`, `Mapping.cdm`.
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
        let taken = Set(sources.map(\.lastPathComponent))
        let files = Set(models.flatMap { model in Self.fileNames(of: model, parts) }).subtracting(taken).sorted()
            .map { context.pluginWorkDirectoryURL.appending(path: $0) }
        let inputs = models + sources
        let generation: [Command] = [
            .buildCommand(
                displayName: "Generating classes of \(target.name)",
                executable: try context.tool(named: "heartwood-generate").url,
                arguments: [target.moduleName, usesShim ? "CoreData" : "Heartwood", output.path]
                    + files.flatMap { ["--file", $0.path] } + inputs.map(\.path),
                inputFiles: parts + sources, outputFiles: [output] + files)
        ]
        return generation + (try Self.compilations(of: target.directoryURL, target.moduleName, context))
    }

    /// Returns a command for each model and mapping model, whose output becomes a resource of the target.
    private static func compilations(of folder: URL, _ module: String, _ context: PluginContext) throws -> [Command] {
        // Xcode compiles models itself on Apple's platforms.
        #if canImport(Darwin)
            return []
        #else
            let endings = ["xcdatamodeld": "momd", "xcdatamodel": "mom", "xcmappingmodel": "cdm"]
            let paths = (FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []).sorted()
            // Two resources of one name are an error: skip a model whose output exists in the target, or has the name of an earlier one.
            var taken = Set(paths.map { URL(fileURLWithPath: $0).lastPathComponent })
            return try paths.compactMap { path in
                let url = folder.appending(path: path)
                guard let ending = endings[url.pathExtension], !path.contains(".xcdatamodeld/") else { return nil }
                let name = url.deletingPathExtension().lastPathComponent + "." + ending
                guard taken.insert(name).inserted else { return nil }
                let inputs = paths.filter { inner in
                    inner.hasPrefix(path + "/") && ["contents", "elements", ".xccurrentversion", "xcmapping.xml"].contains { inner.hasSuffix("/" + $0) }
                }
                let output = context.pluginWorkDirectoryURL.appending(path: name)
                return .buildCommand(
                    displayName: "Compiling \(url.lastPathComponent)", executable: try context.tool(named: "heartwood-generate").url,
                    arguments: ["--compile", url.path, output.path, module], inputFiles: inputs.map { folder.appending(path: $0) }, outputFiles: [output])
            }
        #endif
    }

    /// Returns the names of the files that Xcode would generate for a model's current version. A plugin states its outputs before it runs
    /// anything, so this is only a text search. The executable writes code for other names to the file that always exists.
    private static func fileNames(of model: URL, _ parts: [URL]) -> [String] {
        let versions = parts.filter { $0.path.hasPrefix(model.path + "/") && $0.lastPathComponent == "contents" }
        // Foundation's property list reader has no limit on nesting, and the file may be from anyone.
        let marker = try? String(contentsOf: model.appending(path: ".xccurrentversion"), encoding: .utf8)
        let current = marker?.firstMatch(of: /<key>_XCCurrentVersionName<\/key>\s*<string>([^<]+)<\/string>/)
            .map { String($0.1).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&") }
        let contents = versions.first { $0.deletingLastPathComponent().lastPathComponent == current } ?? versions.first
        guard let contents, let text = try? String(contentsOf: contents, encoding: .utf8) else { return [] }
        return text.matches(of: /<entity\s[^>]*>/).flatMap { entity -> [String] in
            guard let stated = entity.output.firstMatch(of: /\srepresentedClassName="([^"]+)"/)?.1,
                let generation = entity.output.firstMatch(of: /\scodeGenerationType="(class|category)"/)?.1,
                let name = stated.split(separator: ".").last
            else { return [] }
            return (generation == "class" ? ["\(name)+CoreDataClass.swift"] : []) + ["\(name)+CoreDataProperties.swift"]
        }
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

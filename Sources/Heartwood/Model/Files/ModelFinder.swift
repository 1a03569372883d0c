import Foundation

/// A search for model files.
package enum ModelFinder {
    /// Loads the model of a container by the container's name.
    ///
    /// Several targets of a program may each have a model of that name. So the resources of the module's own target come first, and the classes of
    /// its "Current Product Module" get the module's name, as a compiled model has them.
    /// - Parameter module: the module of the code that makes the container.
    /// - Throws: if no file is found (the message names every directory that was searched), or if the model does not load.
    static func model(named name: String, module: String?, in directories: [URL] = directories) throws -> NSManagedObjectModel {
        let own = directories.filter { isResources($0, of: module) }
        for (index, directory) in (own + directories).enumerated() {
            for ending in ModelFile.endings {
                let url = directory.appendingPathComponent("\(name).\(ending)")
                guard FileManager.default.fileExists(atPath: url.path) else { continue }
                let model = try NSManagedObjectModel.load(contentsOf: url)
                if index < own.count, let module { qualify(model, by: module) }
                return model
            }
        }
        throw missing(name, directories)
    }

    /// Whether a directory is `PACKAGE_TARGET.resources` or `.bundle` of a module's target. A module's name has `_` for each character that no
    /// name in Swift can have.
    private static func isResources(_ directory: URL, of module: String?) -> Bool {
        guard let module, let folder = directory.pathComponents.last(where: { !["Contents", "Resources"].contains($0) }),
            let point = folder.lastIndex(of: "."), [".resources", ".bundle"].contains(String(folder[point...]))
        else { return false }
        return String(folder[..<point].map { $0.isLetter || $0.isNumber ? $0 : "_" }).hasSuffix("_" + module)
    }

    private static func qualify(_ model: NSManagedObjectModel, by module: String) {
        for entity in model.entities {
            guard let name = entity.managedObjectClassName, name.hasPrefix(".") else { continue }
            entity.managedObjectClassName = module + name
        }
    }

    static func missing(_ name: String, _ directories: [URL]) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError,
            "There is no model named \(name): no file \(ModelFile.endings.map { "\(name).\($0)" }.joined(separator: ", ")) in "
                + "\(directories.map(\.path).joined(separator: ", ")). Put the model file into the target's resources, beside the "
                + "executable or in the working directory, or give the container a model with init(name:managedObjectModel:).")
    }

    /// All versions of all models in directories.
    package static func versions(in directories: [URL]) -> [URL] { directories.flatMap(files(inDirectory:)).flatMap(ModelFile.versions) }

    /// Loads models one after the other until one meets the condition, and lets go of the others. A file that does not load is skipped.
    static func model(among versions: [URL], where isSuch: (NSManagedObjectModel) -> Bool) -> NSManagedObjectModel? {
        for url in versions {
            if let model = try? NSManagedObjectModel.load(contentsOf: url), isSuch(model) { return model }
        }
        return nil
    }

    /// Moves the versions to the front that probably have these version hashes: those of which a `VersionInfo.plist` says so. None is left out.
    /// - Parameter hashes: Heartwood's or Core Data's, by the names of entities.
    package static func sorted(_ versions: [URL], by hashes: [String: Data]) -> [URL] {
        var known = KnownVersionHashes()
        let counted = versions.map { url in
            (url, known.stated(by: url).map { theirs in hashes.count { theirs[$0.key] == $0.value } } ?? 0)
        }
        return counted.enumerated().sorted { ($1.element.1, $0.offset) < ($0.element.1, $1.offset) }.map(\.element.0)
    }

    /// The model files in bundles' resources, without duplicates.
    static func files(in bundles: [Bundle]) -> [URL] {
        var seen: Set<String> = []
        return bundles.compactMap(\.resourceURL).flatMap(files(inDirectory:)).filter { seen.insert($0.standardizedFileURL.path).inserted }
    }

    private static func files(inDirectory directory: URL) -> [URL] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
        // A compiled file beside its source is the same model.
        var seen: Set<String> = []
        let found = ModelFile.endings.flatMap { ending in names.filter { $0.hasSuffix(".\(ending)") } }
            .filter { seen.insert(URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent).inserted }
        return found.sorted().map { directory.appendingPathComponent($0) }
    }

    /// The directories to search for models, in this order: the main bundle, the other loaded bundles, the package resources beside the
    /// executable, its directory, the working directory and the Resources in it.
    package static var directories: [URL] {
        var found = ([Bundle.main] + Bundle.allBundles + Bundle.allFrameworks).compactMap(\.resourceURL)
        if let executable = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent() {
            found += resources(beside: executable)
            found.append(executable)
        }
        let working = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        found += [working, working.appendingPathComponent("Resources")]
        var seen: Set<String> = []
        return found.filter { isDirectory($0) && seen.insert($0.standardizedFileURL.path).inserted }
    }

    /// The directories into which SwiftPM copies targets' resources: `Package_Target.resources` on Linux, `.bundle` on Apple's platforms.
    static func resources(beside directory: URL) -> [URL] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
        return names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.flatMap { name in
            let bundle = directory.appendingPathComponent(name)
            return [bundle, bundle.appendingPathComponent("Contents/Resources")]
        }
    }

    private static func isDirectory(_ url: URL) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}

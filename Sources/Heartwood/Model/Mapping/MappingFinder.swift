import Foundation

/// Searches files for the mapping model between two versions of a model.
///
/// A mapping model matches for certain if the model files that it names have these versions, or, if it is compiled, if its hashes equal
/// those of the models. If neither can be checked, the entities and properties decide: one mapping model that fits is taken, of several none.
struct MappingFinder {
    /// The directories with the mapping models and with the model files that these name.
    let directories: [URL]

    /// - Returns: nil if no mapping model is for these versions. A file that does not load is skipped.
    func document(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> MappingDocument? {
        var fitting: [(name: String, document: MappingDocument)] = []
        var hashes: CoreDataHashes?, known = KnownVersionHashes()
        let versions = (source.entityVersionHashesByName, destination.entityVersionHashesByName)
        /// nil if a file is not found or does not load.
        func isOf(_ sourcePath: String, _ destinationPath: String) -> Bool? {
            guard let old = part(sourcePath, &known), let new = part(destinationPath, &known) else { return nil }
            return Self.has(versions.0, old) && Self.has(versions.1, new)
        }
        // Source files come before compiled ones, which hold less.
        for file in files([MappingDocument.ending, MappingDocument.compiledEnding]) {
            guard let document = try? MappingDocument.read(file, unless: { isOf($0, $1) == false }) else { continue }
            let isCertain: Bool?
            if document.isCompiled {
                let known = hashes ?? self.hashes(source, destination)
                hashes = known
                isCertain = document.isOf(source, destination, known)
            } else {
                isCertain = isOf(document.sourcePath ?? "", document.destinationPath ?? "")
            }
            if isCertain == true { return document }
            // A compiled file beside its source is the same mapping model.
            let name = file.deletingPathExtension().lastPathComponent
            guard isCertain == nil, document.fits(source, destination), !fitting.contains(where: { $0.name == name }) else { continue }
            fitting.append((name, document))
        }
        return fitting.count == 1 ? fitting[0].document : nil
    }

    /// The hashes of the model that a path names.
    private func part(_ path: String, _ known: inout KnownVersionHashes) -> [String: Data]? {
        for url in MappingDocument.files(path, directories) {
            if let hashes = known.own(of: url) { return hashes }
        }
        return nil
    }

    /// Whether a model has the entities of `part`. A model may be merged from several.
    private static func has(_ hashes: [String: Data], _ part: [String: Data]) -> Bool { part.allSatisfy { hashes[$0.key] == $0.value } }

    /// Core Data's hashes of two models. Missing ones are read from the compiled models in the directories that have entities of these names.
    private func hashes(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> CoreDataHashes {
        var hashes = source.coreDataHashes
        hashes.add(destination.coreDataHashes)
        let missing = Set((source.entities + destination.entities).filter { hashes[$0] == nil }.compactMap(\.name))
        guard !missing.isEmpty else { return hashes }
        // The `.momd` is read even if the model's source is beside it.
        for bundle in files(["momd"]) {
            guard let info = VersionInfo.ofCoreData(in: bundle) else { continue }
            for url in ModelFile.versions(of: bundle) {
                // Several versions of Core Data's may be one here, so the search does not end with the first.
                guard let theirs = info.hashes[url.deletingPathExtension().lastPathComponent], missing.contains(where: { theirs[$0] != nil }),
                    let model = try? NSManagedObjectModel.load(contentsOf: url)
                else { continue }
                hashes.add(model.coreDataHashes)
            }
        }
        return hashes
    }

    /// Sorted by directory, ending and name.
    private func files(_ endings: [String]) -> [URL] {
        directories.flatMap { directory in
            let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
            return endings.flatMap { ending in names.filter { $0.hasSuffix(".\(ending)") }.map { directory.appendingPathComponent($0) } }
        }
    }

    /// Up to four directories that contain a mapping model, the nearest first. A project keeps its models nearby.
    static func ancestors(of url: URL) -> [URL] {
        var found: [URL] = [], next = url.standardizedFileURL
        while found.count < 4, next.path != "/" {
            next = next.deletingLastPathComponent()
            found.append(next)
        }
        return found
    }
}

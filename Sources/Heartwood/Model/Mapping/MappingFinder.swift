import Foundation

/// Finds the mapping model between two versions of a model among files.
///
/// One that names the models' files, or, compiled, their hashes is the one where these are theirs. Where neither is at hand it is the only one
/// whose entities and properties are theirs: of two that fit none is taken.
struct MappingFinder {
    /// Where mapping models, and the models' files that these name, lie.
    let directories: [URL]

    /// nil where none is of these versions; one that does not load is passed over.
    func document(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> MappingDocument? {
        var fitting: [(name: String, document: MappingDocument)] = []
        var hashes: CoreDataHashes?
        // What leaves nothing out comes first.
        for file in files([MappingDocument.ending, MappingDocument.compiledEnding]) {
            guard let document = try? MappingDocument.read(file) else { continue }
            let isCertain: Bool?
            if document.isCompiled {
                let known = hashes ?? self.hashes(source, destination)
                hashes = known
                isCertain = document.isOf(source, destination, known)
            } else {
                isCertain = document.models(in: directories).map { Self.has(source, $0.source) && Self.has(destination, $0.destination) }
            }
            if isCertain == true { return document }
            // What Xcode compiles of a mapping model is the same one.
            let name = file.deletingPathExtension().lastPathComponent
            guard isCertain == nil, document.fits(source, destination), !fitting.contains(where: { $0.name == name }) else { continue }
            fitting.append((name, document))
        }
        return fitting.count == 1 ? fitting[0].document : nil
    }

    /// Whether a model has the entities of another: it may be merged of several.
    private static func has(_ model: NSManagedObjectModel, _ part: NSManagedObjectModel) -> Bool {
        let known = model.entityVersionHashesByName
        return part.entityVersionHashesByName.allSatisfy { known[$0.key] == $0.value }
    }

    /// Core Data's hashes of two models: of those themselves, else of the compiled models that lie there.
    private func hashes(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> CoreDataHashes {
        var hashes = source.coreDataHashes
        hashes.add(destination.coreDataHashes)
        guard (source.entities + destination.entities).contains(where: { hashes[$0] == nil }) else { return hashes }
        // Also of those whose source lies beside them.
        for url in files(["momd"]).flatMap(ModelFile.versions) {
            if let model = try? NSManagedObjectModel.load(contentsOf: url) { hashes.add(model.coreDataHashes) }
        }
        return hashes
    }

    /// By directory, ending and name.
    private func files(_ endings: [String]) -> [URL] {
        directories.flatMap { directory in
            let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
            return endings.flatMap { ending in names.filter { $0.hasSuffix(".\(ending)") }.map { directory.appendingPathComponent($0) } }
        }
    }

    /// The directories that a mapping model is in, the nearest first: a project keeps its models not far away.
    static func ancestors(of url: URL) -> [URL] {
        var found: [URL] = [], next = url.standardizedFileURL
        while found.count < 4, next.path != "/" {
            next = next.deletingLastPathComponent()
            found.append(next)
        }
        return found
    }
}

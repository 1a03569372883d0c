import Foundation

/// Finds the mapping model between two versions of a model among files.
struct MappingFinder {
    /// Where mapping models, and the models' files that these name, lie.
    let directories: [URL]

    /// nil where none is of these versions; one that does not load is passed over.
    func document(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> MappingDocument? {
        files.lazy.compactMap { try? MappingDocument.read($0) }.first { document in
            guard let models = document.models(in: directories) else { return document.fits(source, destination) }
            return Self.has(source, models.source) && Self.has(destination, models.destination)
        }
    }

    /// Whether a model has the entities of another: it may be merged of several.
    private static func has(_ model: NSManagedObjectModel, _ part: NSManagedObjectModel) -> Bool {
        let known = model.entityVersionHashesByName
        return part.entityVersionHashesByName.allSatisfy { known[$0.key] == $0.value }
    }

    private var files: [URL] {
        directories.flatMap { directory in
            ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
                .filter { $0.hasSuffix(".\(MappingDocument.ending)") }.map { directory.appendingPathComponent($0) }
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

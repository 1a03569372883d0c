import Foundation
internal import HeartwoodFileReading

/// The contents of a mapping model's file, before any model is known. The file is an `.xcmappingmodel`, in which Xcode writes its editor's
/// objects as one of Core Data's XML stores, or a compiled `.cdm`; see `CompiledMappingReader`.
///
/// Apple does not document the layout; it was read from files that Xcode made. These also hold copies of the source's and the destination's
/// model in a format of the editor's own. The copies are ignored and the models' files are read instead.
struct MappingDocument {
    struct Entity {
        var name: String
        var source: String?
        var destination: String?
        var type: NSEntityMappingType
        var policy: String?
        var predicate: String?
        /// nil: all objects of the source's entity that meet the predicate.
        var sourceExpression: ExpressionNode?
        var attributes: [Property]
        var relationships: [Property]
        var userInfo: [AnyHashable: Any]?
        /// Core Data's hash; set in a compiled mapping model only.
        var sourceHash: Data?
        var destinationHash: Data?
    }

    struct Property {
        var name: String
        /// An expression that the mapping's author wrote.
        var expression: ExpressionNode?
        /// For a relationship: the path to its source objects. `mappingName` is the mapping that made their counterparts.
        var keyPath: ExpressionNode?
        var mappingName: String?
        var userInfo: [AnyHashable: Any]?
    }

    /// In the order in which a migration runs them.
    var entities: [Entity] = []
    /// True if the document leaves nothing to the models.
    var isCompiled = false
    /// The paths that the models' files had when the mapping model was made.
    var sourcePath: String?
    var destinationPath: String?

    static let ending = "xcmappingmodel"
    static let compiledEnding = "cdm"
    static let fileName = "xcmapping.xml"
    /// In bytes. The largest real files have a few megabytes, which are mostly copies of the models.
    private static let sizeMax = 256 << 20

    /// - Throws: 134080 with the path and the reason.
    static func read(_ url: URL) throws -> MappingDocument {
        let (file, data) = try contents(of: url)
        if data.starts(with: BinaryPropertyList.magic) { return try CompiledMappingReader(Array(data), path: file.path).read() }
        return try MappingFileParser(data: data, path: file.path).parse()
    }

    private static func contents(of url: URL) throws -> (file: URL, data: Data) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelFile.failure("\(url.path): there is no such mapping model; check the path.")
        }
        let file = isDirectory.boolValue ? url.appendingPathComponent(fileName) : url
        let size = (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
        guard size <= sizeMax else { throw ModelFile.failure("\(file.path): has \(size) bytes, more than any mapping model; it was not read.") }
        guard let data = try? Data(contentsOf: file) else { throw ModelFile.failure("\(file.path): cannot be read; check the path.") }
        return (file, data)
    }

    /// The document, unless its file names models that `isOther` knows to be others. Then the file is only searched for the names: most of it is
    /// copies of models, and a program may have dozens.
    static func read(_ url: URL, unless isOther: (_ sourcePath: String, _ destinationPath: String) -> Bool) throws -> MappingDocument? {
        let (_, data) = try contents(of: url)
        if let source = plainText(of: sourcePathName, in: data), let destination = plainText(of: destinationPathName, in: data),
            isOther(source, destination)
        { return nil }
        return try read(url)
    }

    static let sourcePathName = "sourcemodelpath", destinationPathName = "destinationmodelpath"

    /// The text of the only attribute with a name in the XML; nil where it has parts that a parser must read.
    private static func plainText(of name: String, in data: Data) -> String? {
        let quoted = Data("name=\"\(name)\"".utf8)
        guard let found = data.range(of: quoted), data.range(of: quoted, in: found.upperBound..<data.endIndex) == nil,
            let start = data[found.upperBound...].firstIndex(of: UInt8(ascii: ">")),
            let end = data[start...].firstIndex(of: UInt8(ascii: "<")),
            data[start..<end].allSatisfy({ $0 != UInt8(ascii: "&") && $0 >= 0x20 })
        else { return nil }
        return String(decoding: data[data.index(after: start)..<end], as: UTF8.self)
    }

    // MARK: Models

    /// Finds and loads the two models that the document names.
    /// - Parameter directories: the directories to search, for the files or for the folders that contained them.
    /// - Returns: nil if a model is not found or does not load.
    func models(in directories: [URL]) -> (source: NSManagedObjectModel, destination: NSManagedObjectModel)? {
        guard let source = Self.model(sourcePath, directories), let destination = Self.model(destinationPath, directories) else { return nil }
        return (source, destination)
    }

    private static func model(_ path: String?, _ directories: [URL]) -> NSManagedObjectModel? {
        files(path ?? "", directories).lazy.compactMap { try? NSManagedObjectModel.load(contentsOf: $0) }.first
    }

    /// The existing files that a path may mean, the likeliest first.
    static func files(_ path: String, _ directories: [URL]) -> [URL] {
        guard !path.isEmpty else { return [] }
        let parts = path.split(separator: "/").map(String.init)
        let version = parts[parts.count - 1], stem = URL(fileURLWithPath: version).deletingPathExtension().lastPathComponent
        var names = [version, "\(stem).mom"]
        if parts.count > 1 {
            let bundle = parts[parts.count - 2]
            names += ["\(bundle)/\(version)", "\(URL(fileURLWithPath: bundle).deletingPathExtension().lastPathComponent).momd/\(stem).mom", path]
        }
        return directories.flatMap { directory in names.map(directory.appendingPathComponent) }.filter(ModelFile.isThere)
    }

    /// Whether Core Data's hashes of the mapped entities equal those of the models.
    /// - Returns: nil if the hash of an entity is not known and no other hash differs.
    func isOf(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ hashes: CoreDataHashes) -> Bool? {
        let sources = entities.filter { $0.source != nil }.map { ($0.source.flatMap { source.entitiesByName[$0] }, $0.sourceHash) }
        let destinations = entities.filter { $0.destination != nil }
            .map { ($0.destination.flatMap { destination.entitiesByName[$0] }, $0.destinationHash) }
        var isKnown = !entities.isEmpty
        for (entity, declared) in sources + destinations {
            guard let entity else { return false }
            guard let declared, let known = hashes[entity] else {
                isKnown = false
                continue
            }
            if !known.contains(declared) { return false }
        }
        return isKnown ? true : nil
    }

    /// Whether every entity of both models is mapped, and every mapping names entities and properties that the models have. A compiled document
    /// must map every stored property as well.
    func fits(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
        func isKnown(_ entity: Entity) -> Bool {
            if let name = entity.source, source.entitiesByName[name] == nil { return false }
            guard let name = entity.destination else { return true }
            guard let found = destination.entitiesByName[name] else { return false }
            let attributes = found.attributesByName, relationships = found.relationshipsByName
            let isWhole = !isCompiled || found.properties.allSatisfy { property in
                property.isTransient || property is NSDerivedAttributeDescription || property is NSFetchedPropertyDescription
                    || entity.attributes.contains { $0.name == property.name } || entity.relationships.contains { $0.name == property.name }
            }
            return isWhole && entity.attributes.allSatisfy { attributes[$0.name] != nil }
                && entity.relationships.allSatisfy { relationships[$0.name] != nil }
        }
        let sources = Set(entities.compactMap(\.source)), destinations = Set(entities.compactMap(\.destination))
        return entities.allSatisfy(isKnown)
            && source.entities.allSatisfy { $0.isAbstract || sources.contains($0.name ?? "") }
            && destination.entities.allSatisfy { $0.isAbstract || destinations.contains($0.name ?? "") }
    }
}

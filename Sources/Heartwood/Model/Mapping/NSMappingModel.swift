import Foundation

/// How the objects of a store with one version of a model become objects of a store with another.
///
/// Make one in code, load one that was made in Xcode, or have it inferred where the changes say it themselves.
///
/// A property mapping that Xcode's editor was left to fill in takes over the source's property of the same name: from the models with which
/// the mapping model is used, where those that it names are not found beside its file.
/// Source: https://developer.apple.com/documentation/coredata/nsmappingmodel
open class NSMappingModel: NSObject {
    /// In this order they are gone through.
    open var entityMappings: [NSEntityMapping]! = [] {
        didSet { inferredText = nil }
    }

    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    /// All that was inferred, in words; nil for a model that somebody has made or changed.
    final var inferredText: String?
    /// What the file did not say and the models do; nil once that is known.
    final var document: MappingDocument?

    public override init() {
        super.init()
    }

    /// Loads a mapping model: a folder `.xcmappingmodel` as Xcode's editor writes it, the `xcmapping.xml` in it, or what Xcode compiles of it, a
    /// `.cdm`. nil where it cannot be loaded; `load(contentsOf:)` says why.
    ///
    /// A compiled one names versions of entities by hashes that only Core Data computes: its entity mappings have no hashes before a migration,
    /// and then those of the models with which it is used.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let document = try? MappingDocument.read(url) else { return nil }
        self.init(document, beside: url)
    }

    /// The same.
    /// - Throws: an error whose description names the file, and what is wrong with it.
    public static func load(contentsOf url: URL) throws -> NSMappingModel { NSMappingModel(try MappingDocument.read(url), beside: url) }

    /// The mapping model between two versions of a model, found in bundles' resources: one that names files of these versions, or, compiled,
    /// the hashes that Xcode wrote for them beside a compiled model (`VersionInfo.plist` in a `.momd`). Where neither files nor hashes are at hand
    /// it is the only one whose entities and properties are theirs: nil where there is none, or more than one.
    /// - Parameter bundles: nil: all that are loaded, and where a container looks for models.
    public convenience init?(from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?) {
        guard let sourceModel, let destinationModel else { return nil }
        self.init(directories: bundles?.compactMap(\.resourceURL) ?? ModelFinder.directories, sourceModel, destinationModel)
    }

    /// The same, found in folders.
    convenience init?(directories: [URL], _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
        guard let found = MappingFinder(directories: directories).document(from: source, to: destination) else { return nil }
        self.init()
        entityMappings = found.entityMappings(from: source, to: destination)
    }

    /// The mapping that follows from two versions of a model by themselves: entities and properties of one name, or of one renaming
    /// identifier, are the same.
    /// - Throws: 134190 where something has changed that says nothing of its objects' new values; `reason`, `entity` and `property` in its user
    ///   info say what.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        NSMappingModel(inferredFrom: try ModelComparison(from: sourceModel, to: destinationModel))
    }

    private convenience init(_ document: MappingDocument, beside url: URL) {
        self.init()
        let directory = url.lastPathComponent == MappingDocument.fileName ? url.deletingLastPathComponent() : url
        let models = document.models(in: MappingFinder.ancestors(of: directory))
        entityMappings = document.entityMappings(from: models?.source, to: models?.destination)
        if models == nil { self.document = document }
    }

    /// Fills in what its file left to the models, and its entities' versions.
    final func complete(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        guard let document else { return }
        self.document = nil
        document.complete(entityMappings ?? [], from: source, to: destination)
    }
}

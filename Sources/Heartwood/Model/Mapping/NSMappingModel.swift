import Foundation

/// The rules that turn the objects of a store with one version of a model into objects of a store with another version.
///
/// Make one in code, load one that was made in Xcode, or have it inferred if the changes need no decision.
///
/// A property mapping that was left empty in Xcode's editor takes over the source's property of the same name. It is completed from the models
/// that the file names, or, if these are not found beside the file, from the models with which the mapping model is used.
/// Source: https://developer.apple.com/documentation/coredata/nsmappingmodel
open class NSMappingModel: NSObject {
    /// In the order in which a migration runs them.
    open var entityMappings: [NSEntityMapping]! = [] {
        didSet { inferredText = nil }
    }

    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    /// The text of an inferred model; nil for a model that was made or changed in code.
    final var inferredText: String?
    /// The document whose gaps the models must fill; nil once they are filled.
    final var document: MappingDocument?

    public override init() {
        super.init()
    }

    /// Loads a mapping model: an `.xcmappingmodel` folder of Xcode's editor, the `xcmapping.xml` in it, or a compiled `.cdm`. Returns nil if it
    /// cannot be loaded; `load(contentsOf:)` throws the reason.
    ///
    /// A compiled model names versions of entities by hashes that only Core Data computes. So its entity mappings have no hashes before a
    /// migration, and then those of the models with which it is used.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let document = try? MappingDocument.read(url) else { return nil }
        self.init(document, beside: url)
    }

    /// Loads a mapping model like `init(contentsOf:)`.
    /// - Throws: an error whose description names the file and the reason.
    public static func load(contentsOf url: URL) throws -> NSMappingModel { NSMappingModel(try MappingDocument.read(url), beside: url) }

    /// Finds the mapping model between two versions of a model in bundles' resources. It must name files of these versions or, if compiled, the
    /// hashes that Xcode wrote beside a compiled model (`VersionInfo.plist` in a `.momd`). If neither files nor hashes are at hand, it is the only
    /// one whose entities and properties fit the models. Returns nil if none fits, or more than one.
    /// - Parameters:
    ///   - bundles: nil: all loaded bundles, and the directories in which a container looks for models.
    ///   - sourceModel: the older version.
    ///   - destinationModel: the newer version.
    public convenience init?(from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?) {
        guard let sourceModel, let destinationModel else { return nil }
        self.init(directories: bundles?.compactMap(\.resourceURL) ?? ModelFinder.directories, sourceModel, destinationModel)
    }

    /// Finds the mapping model in directories.
    package convenience init?(directories: [URL], _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
        guard let found = MappingFinder(directories: directories).document(from: source, to: destination) else { return nil }
        self.init()
        entityMappings = found.entityMappings(from: source, to: destination)
    }

    /// Infers the mapping between two versions of a model. Entities and properties match if they have the same name or the same renaming
    /// identifier.
    /// - Throws: 134190 if a change does not determine its objects' new values; `reason`, `entity` and `property` in the user info give the
    ///   details.
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

    /// Whether both have equal entity mappings, in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return self === other || (entityMappings ?? []) == (other.entityMappings ?? [])
    }

    open override var hash: Int { (entityMappings ?? []).count }

    /// Fills in the parts that the file left to the models, and the versions of the entities.
    final func complete(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        guard let document else { return }
        self.document = nil
        document.complete(entityMappings ?? [], from: source, to: destination)
    }
}

import Foundation
import Synchronization

/// A version of a model that is found when it is needed.
///
/// Checksums are this library's (`NSManagedObjectModel.versionChecksum`); Core Data's differ for the same model.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodelreference
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    // Unchecked: a lock guards the found model.

    private enum Origin {
        case model(NSManagedObjectModel)
        case file(URL)
        case hashes([AnyHashable: Any], Bundle?)
        case name(String, Bundle?)
    }

    private struct Found: @unchecked Sendable {
        // Unchecked: a model that a migration uses is not changed.
        var model: NSManagedObjectModel?
    }

    private let origin: Origin
    private let found = Mutex(Found())
    /// The checksum that the model must have.
    public final let versionChecksum: String

    private init(_ origin: Origin, _ versionChecksum: String) {
        self.origin = origin
        self.versionChecksum = versionChecksum
        super.init()
    }

    public convenience init(model: NSManagedObjectModel, versionChecksum: String) { self.init(.model(model), versionChecksum) }

    public convenience init(fileURL: URL, versionChecksum: String) { self.init(.file(fileURL), versionChecksum) }

    /// - Parameters:
    ///   - entityVersionHashes: the hashes in `NSManagedObjectModel.entityVersionHashesByName`.
    ///   - bundle: nil for the main bundle.
    ///   - versionChecksum: `NSManagedObjectModel.versionChecksum` of the model that is meant.
    public convenience init(entityVersionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        self.init(.hashes(entityVersionHashes, bundle), versionChecksum)
    }

    /// - Parameters:
    ///   - modelName: the name of a model, or of one version of it.
    ///   - bundle: nil for the main bundle.
    ///   - versionChecksum: `NSManagedObjectModel.versionChecksum` of the model that is meant.
    public convenience init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        self.init(.name(modelName, bundle), versionChecksum)
    }

    /// The model.
    /// - Precondition: the model is found, and has the checksum. A migration throws if it is not found.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch { misuse(error.localizedDescription) }
    }

    /// - Throws: 134504 if the model is not found, 134505 if it has another checksum.
    final func resolve() throws -> NSManagedObjectModel {
        if let known = found.withLock({ $0 }).model { return known }
        let model = try find()
        guard model.versionChecksum == versionChecksum else {
            throw CoreDataError.make(
                NSStagedMigrationFrameworkVersionMismatchError,
                "The model of \(self) has the checksum \(model.versionChecksum): either it has changed, or another framework computed the checksum "
                    + "that the reference names. Each framework has its own; give NSManagedObjectModel.versionChecksum.")
        }
        let made = Found(model: model)
        found.withLock { $0 = made }
        return model
    }

    private func find() throws -> NSManagedObjectModel {
        switch origin {
        case .model(let model): return model
        case .file(let url):
            do {
                return try NSManagedObjectModel.load(contentsOf: url)
            } catch {
                throw missing(error)
            }
        case .hashes(let hashes, let bundle):
            let wanted = hashes as? [String: Data] ?? [:]
            let versions = ModelFinder.files(in: [bundle ?? .main]).flatMap(ModelFile.versions)
            let found = ModelFinder.model(among: ModelFinder.sorted(versions, by: wanted)) { $0.entityVersionHashesByName == wanted }
            guard let found else { throw missing(nil) }
            return found
        case .name(let name, let bundle):
            let files = ModelFinder.files(in: [bundle ?? .main])
            let named = (files.flatMap(ModelFile.versions) + files).filter { $0.deletingPathExtension().lastPathComponent == name }
            let models = named.compactMap { try? NSManagedObjectModel.load(contentsOf: $0) }
            guard let model = models.first(where: { $0.versionChecksum == versionChecksum }) ?? models.first else { throw missing(nil) }
            return model
        }
    }

    private func missing(_ cause: (any Error)?) -> NSError {
        var info: [String: Any] = [:]
        info[NSUnderlyingErrorKey] = cause
        return CoreDataError.make(NSManagedObjectModelReferenceNotFoundError, "The model of \(self) is not found.", info)
    }

    open override var description: String {
        let what = switch origin {
        case .model: "a model"
        case .file(let url): url.path
        case .hashes(_, let bundle): "hashes in \((bundle ?? .main).bundlePath)"
        case .name(let name, let bundle): "\(name) in \((bundle ?? .main).bundlePath)"
        }
        return "<NSManagedObjectModelReference \(what), checksum \(versionChecksum)>"
    }
}

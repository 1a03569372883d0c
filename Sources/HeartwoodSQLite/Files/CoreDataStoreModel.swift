import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// The model of a store of Core Data's, and how it was found.
package struct CoreDataStoreModel {
    package enum Origin: Equatable, CustomStringConvertible {
        /// The store has it.
        case cache
        /// The store's metadata name a version of a compiled model.
        case compiled(URL)
        /// The tables of the store are those of a version of a model's source.
        case source(URL)
        /// Heartwood wrote it into the store.
        case written
        /// The caller knows the model.
        case given
        /// The model was guessed from the tables.
        case schema

        package var description: String {
            switch self {
            case .cache: "the store's model cache"
            case .compiled(let url), .source(let url): url.path
            case .written: "the model that Heartwood wrote into the store"
            case .given: "the given model"
            case .schema: "the store's tables"
            }
        }
    }

    package let model: NSManagedObjectModel
    package let origin: Origin
    /// The reason why the model is guessed from the tables: the error of the store's cache. nil if it is not.
    package let guessReason: String?
    /// Statements about what was guessed; empty for a model that the store or a model's hashes tell.
    package let guesses: [String]
    /// Statements about references that another program may have meant otherwise: of a guessed model, or of the one from which the store was made.
    package let doubts: [String]
    /// Whether the file has no objects, and a write-ahead log that may have them is not there.
    package let mayLackLog: Bool
    /// The configuration with exactly the store's entities; nil if the store has all of the model's, or for a model that the caller knows.
    package let configuration: String?

    /// Finds the model of a store.
    /// - Parameter given: a `.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`, for a store without a cache that can be read.
    /// - Throws: 260 if there is no store, 134020 for a database of another program, 134100 if no version of the given model is the store's.
    package static func find(storeAt path: String, given: URL? = nil) throws -> CoreDataStoreModel {
        do {
            return try CoreDataContents.read(path) { try CoreDataStoreModel($1, $0, given: given) }
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }

    /// The cache; else the given model; else the one that Heartwood wrote; else the schema. Call it inside of `file.read`.
    init(_ contents: CoreDataContents, _ file: SQLiteFile, given: URL? = nil) throws {
        let path = file.path
        let isCompiled = given.map { ["mom", "momd"].contains($0.pathExtension) } ?? false
        do {
            let choice = try StoreModelChoice(
                cache: contents.cache, metadata: contents.metadata, path: path, bundle: isCompiled ? given : nil)
            switch choice.origin {
            case .cache: self.init(choice.model, .cache, of: contents)
            case .compiled(let url): self.init(choice.model, .compiled(url), of: contents)
            }
        } catch {
            guard !isCompiled else { throw error }
            if let given {
                self = try Self.fitting(given, contents, path: path)
            } else if let model = contents.writtenModel(path: path) {
                self.init(model, .written, of: contents)
            } else {
                let guess = try CoreDataGuess(contents, file)
                self.init(
                    try guess.model(), .schema, guess.guesses, doubts: guess.doubts, of: contents,
                    because: (error as NSError).localizedDescription)
            }
        }
    }

    /// - Parameter doubts: those about a model that is equal to this one.
    init(given model: NSManagedObjectModel, doubts: [String] = []) { self.init(model, .given, doubts: doubts, of: nil) }

    private init(
        _ model: NSManagedObjectModel, _ origin: Origin, _ guesses: [String] = [], doubts: [String] = [], of contents: CoreDataContents?,
        because reason: String? = nil
    ) {
        let isFromStore = [.cache, .written, .schema].contains(origin), known = isFromStore ? contents.map { RecordLogMetadata.doubts(in: $0.metadata) } ?? [] : []
        self.doubts = known + doubts.filter { !known.contains($0) }
        mayLackLog = contents?.mayLackLog ?? false
        configuration = contents.flatMap { Self.configuration(of: model, in: $0) }
        self.model = model
        self.origin = origin
        self.guesses = guesses
        guessReason = reason
    }

    /// The version of a model's source whose tables are exactly the store's.
    private static func fitting(_ source: URL, _ contents: CoreDataContents, path: String) throws -> CoreDataStoreModel {
        let versions = ModelFile.versions(of: source)
        var reasons: [String] = [], fitting: [(url: URL, model: NSManagedObjectModel)] = []
        for version in versions {
            let name = version.deletingPathExtension().lastPathComponent
            do {
                let model = try NSManagedObjectModel.load(contentsOf: version)
                let layout = try CoreDataLayout(entities(of: model, in: contents), contents.numbers, contents.schema, path: path)
                if layout.differences.isEmpty { fitting.append((version, model)) } else { reasons.append("\(name): \(layout.differences[0])") }
            } catch {
                reasons.append("\(name): \((error as NSError).localizedDescription)")
            }
        }
        guard let found = fitting.last else {
            let list = reasons.map { "\n  " + $0 }.joined()
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleVersionHashError,
                "\(source.path): no version of the model has the tables of the store \(path).\(list.isEmpty ? " It has none." : list)",
                [NSFilePathErrorKey: path])
        }
        let names = fitting.map { $0.url.deletingPathExtension().lastPathComponent }
        let isOne = names.count == 1
        return CoreDataStoreModel(
            found.model, .source(found.url),
            isOne ? [] : ["The versions \(names.joined(separator: ", ")) have the same tables; \(names[names.count - 1]) was taken."],
            of: contents)
    }

    /// The entities of a model that a store may have: those of the configuration with the store's entities, or all. They are copies, which become
    /// immutable.
    static func entities(of model: NSManagedObjectModel, in contents: CoreDataContents) -> [NSEntityDescription] {
        let copy = model.copy() as? NSManagedObjectModel ?? model
        copy.makeImmutable()
        return configuration(of: copy, in: contents).flatMap(copy.entities(forConfigurationName:)) ?? copy.entities
    }

    /// The configuration of a model with exactly the store's entities; nil if the store has all of them, or no configuration fits.
    static func configuration(of model: NSManagedObjectModel, in contents: CoreDataContents) -> String? {
        let names = contents.numbers.objectEntities
        guard Set(model.entities.compactMap(\.name)) != names else { return nil }
        return model.configurations.sorted().first { name in
            name != NSManagedObjectModel.defaultConfigurationName
                && Set((model.entities(forConfigurationName: name) ?? []).compactMap(\.name)) == names
        }
    }
}

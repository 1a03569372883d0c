import Foundation
internal import SQLiteFile

/// The model of a store of Core Data's, and how it was found.
package struct CoreDataStoreModel {
    package enum Origin: Equatable, CustomStringConvertible {
        /// The store has it.
        case cache
        /// The store's metadata name a version of a compiled model.
        case compiled(URL)
        /// The tables of the store are those of a version of a model's source.
        case source(URL)
        /// The caller knows the model.
        case given
        /// The model was guessed from the tables.
        case schema

        package var description: String {
            switch self {
            case .cache: "the store's model cache"
            case .compiled(let url), .source(let url): url.path
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
    /// The configuration with exactly the store's entities; nil if the store has all of the model's, or for a model that the caller knows.
    package let configuration: String?

    /// Finds the model of a store.
    /// - Parameter given: a `.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`, for a store without a cache that can be read.
    /// - Throws: 260 if there is no store, 134020 for a database of another program, 134100 if no version of the given model is the store's.
    package static func find(storeAt path: String, given: URL? = nil) throws -> CoreDataStoreModel {
        do {
            return try CoreDataStoreModel(try CoreDataContents.open(path).contents, path: path, given: given)
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }

    /// The cache; else the given model; else the schema.
    init(_ contents: CoreDataContents, path: String, given: URL? = nil) throws {
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
            } else {
                let guess = CoreDataGuess(contents)
                self.init(try guess.model(), .schema, guess.guesses, of: contents, because: (error as NSError).localizedDescription)
            }
        }
    }

    init(given model: NSManagedObjectModel) { self.init(model, .given, of: nil) }

    private init(
        _ model: NSManagedObjectModel, _ origin: Origin, _ guesses: [String] = [], of contents: CoreDataContents?, because reason: String? = nil
    ) {
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

import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Makes a record log of an SQLite store, with the same identifier and the same keys, so that URIs of objects stay what they are. The SQLite
/// store is only read.
package struct SQLiteConversion {
    let source: URL
    let keepsHistory: Bool
    let progress: ((UInt64, UInt64) -> Void)?
    /// Whether the new store is read once more before it gets its name.
    private let verifies: Bool
    private let chosenModel: (CoreDataContents, SQLiteFile) throws -> SQLiteSourceModel
    /// The version to which the new store is migrated here; nil for the store's own.
    private let version: NSManagedObjectModel?
    /// The version that the new store is to have in the end, and the rule for objects that have no entity there; nil for the store's own.
    private let goal: (model: NSManagedObjectModel, dropping: DroppingRule)?

    /// A reader that the owner disturbs more often gives up.
    private static let attemptsMax = 5

    /// For a tool.
    /// - Parameters:
    ///   - model: the model of the new store, and its file; nil for the old store's own.
    ///   - keepsHistory: whether transactions come along.
    ///   - verifies: whether the new store is verified before it gets its name; its objects are counted in any case.
    ///   - acceptsUnrelated: whether the model may leave nothing of the objects, see `NSMigratePersistentStoresToUnrelatedModelsOption`.
    ///   - progress: called with the rows done, and with all.
    package init(
        _ source: URL, model: (model: NSManagedObjectModel, file: URL)?, keepsHistory: Bool, verifies: Bool = true,
        acceptsUnrelated: Bool = false, progress: ((UInt64, UInt64) -> Void)? = nil
    ) {
        self.source = source.resolvingSymlinksInPath()
        (self.keepsHistory, self.verifies, self.progress) = (keepsHistory, verifies, progress)
        version = model?.model
        goal = model.map { ($0.model, acceptsUnrelated ? .isTold : .refusesUnrelated) }
        let isFile = model.map { ["mom", "momd", "xcdatamodel", "xcdatamodeld"].contains($0.file.pathExtension) } ?? false
        chosenModel = { contents, file in
            let own = try SQLiteSourceModel(contents, file, given: isFile ? model?.file : nil)
            // The given model names classes and other things that a cache lacks.
            guard let wanted = model?.model, wanted.entityVersionHashesByName == own.found.model.entityVersionHashesByName else { return own }
            return SQLiteSourceModel(
                CoreDataStoreModel(given: wanted, doubts: own.found.doubts), configuration: CoreDataStoreModel.configuration(of: wanted, in: contents))
        }
    }

    /// For a program that opens the store with a model. The new store has the version of the old one.
    /// - Parameter dropping: applies to the migration that follows.
    init(_ source: URL, for model: NSManagedObjectModel, configuration: String?, keepsHistory: Bool, dropping: DroppingRule = .refusesUnrelated) {
        self.source = source.resolvingSymlinksInPath()
        goal = (model, dropping)
        (self.keepsHistory, verifies, progress, version) = (keepsHistory, true, nil, nil)
        chosenModel = { try SQLiteSourceModel($0, $1, for: model, configuration: configuration) }
    }

    /// Tells what `run` would do: it writes and verifies a temporary file, and removes it. Objects with the same values of a uniqueness constraint
    /// are in the report.
    /// - Throws: the other errors of `run`.
    package func check() throws -> ConversionReport {
        let name = "heartwood-dry-run-\(UUID().uuidString)"
        return try withFolder(besides: FileManager.default.temporaryDirectory.appendingPathComponent(name)) { folder in
            var (report, _) = try complete(folder, isDry: true)
            report.bytes = nil
            return report
        }
    }

    /// Writes the new store beside its URL. The file takes the URL once it is complete and verified, with the permissions of the old store's file.
    ///
    /// Crash points: before that there is no file at the URL; after it the complete store. See `MigrationFolder` for what else a crash leaves.
    /// - Throws: 134070 if a file that is not empty is at the URL; the errors of reading the old store; 134111 if objects have the same values of a
    ///   uniqueness constraint; 134030 if the new store cannot be written. No file is at the URL then.
    /// - Complexity: O(store); memory that does not grow with it, but for two bytes for each key.
    @discardableResult
    package func run(to target: URL) throws -> ConversionReport {
        let url = target.resolvingSymlinksInPath()
        try StoreFiles.free(url)
        return try withFolder(besides: url) { folder in
            let (report, _) = try complete(folder)
            try LogStore.rename(folder.file.path, to: url.path, replacing: false, like: source.path)
            Self.allowWriting(url)
            return report
        }
    }

    /// A copy of a read-only file is to be written.
    static func allowWriting(_ url: URL) {
        let mode = (try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
        guard let mode, mode & 0o200 == 0 else { return }
        try? FileManager.default.setAttributes([.posixPermissions: NSNumber(value: mode | 0o200)], ofItemAtPath: url.path)
    }

    func withFolder<Result>(besides url: URL, _ body: (MigrationFolder) throws -> Result) throws -> Result {
        do {
            return try MigrationFolder.use(besides: url, body)
        } catch {
            throw SQLiteConversionError.unwritten(error, source.path)
        }
    }

    /// Writes and verifies the new store in the folder.
    /// - Returns: also the state of the old store that was read.
    func complete(_ folder: MigrationFolder, isDry: Bool = false) throws -> (report: ConversionReport, file: SQLiteFile) {
        let (written, file, configuration) = try write(to: folder.file, isDry: isDry)
        var report = written
        guard report.repetitions.count == 0 else { return (report, file) }
        if let version, version.entityVersionHashesByName != report.versionHashes {
            try StoredModel.migrate(folder.file, to: version, configuration: configuration, by: nil, .isTold)
            report.migration = VersionDifference(from: report.versionHashes, to: version)
        }
        if verifies { report.doubts = try verify(folder.file.path) }
        report.bytes = CoreDataFile.size(of: folder.file.path)
        return (report, file)
    }

    /// Reads every row of the new store once more, from its file: checksums, references, pairs and unique values. `StoreVerification` also makes
    /// all indexes anew, in memory, so it is left to `heartwood verify`.
    /// - Returns: what is doubtful, and is so in the old store too.
    private func verify(_ path: String) throws -> StoreFindings {
        var doubts = StoreFindings(), damage: StoreVerification.Problem?
        try StoreAudit.run(path: path) { problem in
            if problem.remedy == .correct { doubts.add(problem.message) } else { damage = damage ?? problem }
        }
        if let damage { throw SQLiteConversionError.unsound(source.path, damage.message) }
        return doubts
    }

    // MARK: One state of the old store

    private func write(to new: URL, isDry: Bool) throws -> (report: ConversionReport, file: SQLiteFile, configuration: String?) {
        var attempt = 1
        while true {
            do {
                let (file, contents) = try CoreDataContents.open(source.path)
                let (converted, configuration) = try file.read { try convert(file, contents, to: new, isDry: isDry) }
                var report = converted
                report.sourceBytes = CoreDataFile.size(of: source.path) + CoreDataFile.size(of: source.path + "-wal")
                return (report, file, configuration)
            } catch {
                try? FileManager.default.removeItem(at: new)
                guard let failure = error as? SQLiteFileError else { throw RecordLogErrors.wrapIfOfEngine(error) }
                guard failure.code == .changed, attempt < Self.attemptsMax else { throw CoreDataFileError.wrap(failure, opening: true) }
                attempt += 1
            }
        }
    }

    private func convert(_ file: SQLiteFile, _ contents: CoreDataContents, to new: URL, isDry: Bool) throws -> (ConversionReport, String?) {
        let chosen = try chosenModel(contents, file)
        let converter = SQLiteConverter(
            file: file, contents: contents, found: chosen.found, model: chosen.found.model, configuration: chosen.configuration,
            keepsHistory: keepsHistory, allowsRepetitions: isDry, progress: progress)
        var report = try converter.run(to: new)
        report.dropped = try dropped(chosen, report)
        return (report, chosen.configuration)
    }

    /// Counts the objects for which the wanted version has no entity.
    /// - Throws: 134140 if it has an entity for none of them, unless a mapping model says what becomes of them.
    private func dropped(_ chosen: SQLiteSourceModel, _ report: ConversionReport) throws -> [DroppedObjects.Entity] {
        guard let goal, goal.model.entityVersionHashesByName != report.versionHashes else { return [] }
        let comparison = ModelComparison(comparing: chosen.found.model, with: goal.model, configuration: chosen.configuration)
        let objects = Dictionary(report.entities.map { ($0.name, $0.objects) }) { first, _ in first }
        let dropped = DroppedObjects(comparison) { objects[$0.name ?? ""] ?? 0 }
        if dropped.isEverything, version != nil || NSMappingModel(directories: ModelFinder.directories, chosen.found.model, goal.model) == nil {
            try goal.dropping.check(dropped, source)
        }
        return dropped.entities
    }
}

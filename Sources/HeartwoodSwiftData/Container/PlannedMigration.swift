import Foundation
import Heartwood

/// Brings a store from an older version of a schema to the container's by the stages of a plan.
///
/// The stages run on a copy beside the store, which takes the store's place after the last one: whatever throws or crashes before leaves the store
/// as it was.
struct PlannedMigration {
    let plan: any SchemaMigrationPlan.Type
    let schema: Schema

    /// - Throws: `SwiftDataError`: `.backwardMigration` for a store of a later version from which no stages lead back,
    ///   `.unknownDataStoreSchema` for one of no version of the plan, `.unknownSchema` for a container whose schema is no version of it,
    ///   `.loadIssueModelContainer` for a plan with a gap; and the errors of the stages.
    func migrate(_ configuration: ModelConfiguration) throws {
        guard let file = StoreFile(configuration.url) else { return }
        if file.isSQLite {
            // It is read in place, and no other version of it can be made there.
            guard configuration.allowsSave else { return }
            try file.convert()
        }
        let stored = try StoreFile(configuration.url)?.storedModel()?.entitiesByName ?? [:]
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: configuration.url)
        let versions = try plan.schemas.map { ($0, try ManagedModelMaker.model(Schema(versionedSchema: $0), following: stored)) }
        func isOf(_ model: NSManagedObjectModel) -> Bool { model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
        guard !isOf(try ManagedModelMaker.model(schema, following: stored)) else { return }
        guard let target = try versions.lastIndex(where: { try isSchema($0.0) }) else {
            throw SwiftDataError.unknownSchema.because("The schema of the container is none of \(plan)'s versions.")
        }
        guard let start = versions.lastIndex(where: { isOf($0.1) }) else {
            throw SwiftDataError.unknownDataStoreSchema.because(
                "The store \(configuration.url.path) is of no version of \(plan). Add the schema with which it was saved to the plan.")
        }
        // A plan may have stages that lead back.
        let path = Result { try stages(from: versions[start].0, to: versions[target].0) }
        guard start < target || (try? path.get()) != nil else {
            throw SwiftDataError.backwardMigration.because(
                "The store \(configuration.url.path) has version \(versions[start].0.versionIdentifier), and the container asks for "
                    + "\(versions[target].0.versionIdentifier). Open it with the later version.")
        }
        try run(path.get(), configuration)
    }

    private func isSchema(_ version: any VersionedSchema.Type) throws -> Bool {
        let other = Schema(versionedSchema: version)
        guard Set(other.entities.map(\.name)) == Set(schema.entities.map(\.name)) else { return false }
        return try ManagedModelMaker.model(other).entityVersionHashesByName == ManagedModelMaker.model(schema).entityVersionHashesByName
    }

    private func stages(from start: any VersionedSchema.Type, to end: any VersionedSchema.Type) throws -> [MigrationStage] {
        var found: [MigrationStage] = []
        var version = start
        while version != end {
            guard let next = plan.stages.first(where: { $0.versions.from == version }), found.count < plan.stages.count else {
                throw SwiftDataError.loadIssueModelContainer.because(
                    "\(plan) has no stage that starts at \(version), so the store cannot come to \(end). Add the stage.")
            }
            found.append(next)
            version = next.versions.to
        }
        return found
    }

    private func run(_ stages: [MigrationStage], _ configuration: ModelConfiguration) throws {
        try StoreCopy.replacing(configuration.url) { copy in
            for stage in stages { try run(stage, copy) }
        }
    }

    private func run(_ stage: MigrationStage, _ url: URL) throws {
        let (from, to) = stage.versions
        var before: (@Sendable (ModelContext) throws -> Void)?, after: (@Sendable (ModelContext) throws -> Void)?
        if case .custom(_, _, let willMigrate, let didMigrate) = stage { (before, after) = (willMigrate, didMigrate) }
        if let before { try Self.open(from, url, before) }
        try Self.open(to, url, after ?? { _ in })
    }

    /// Opens the store with a version's classes, which migrates it to them, and runs the program's code.
    private static func open(_ version: any VersionedSchema.Type, _ url: URL, _ body: (ModelContext) throws -> Void) throws {
        let container = try ModelContainer(for: Schema(versionedSchema: version), configurations: [ModelConfiguration(url: url)])
        let context = ModelContext(container)
        try body(context)
        try context.save()
        try container.close()
    }
}

extension ModelContainer {
    /// Lets go of the files.
    func close() throws { try container.persistentStoreCoordinator.removeAll() }
}

extension NSPersistentStoreCoordinator {
    func removeAll() throws {
        for store in persistentStores { try remove(store) }
    }
}

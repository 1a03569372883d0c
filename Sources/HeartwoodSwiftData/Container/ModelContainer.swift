import Foundation
import Heartwood
import Synchronization

/// The stores of a schema's models.
///
/// Source: https://developer.apple.com/documentation/swiftdata/modelcontainer
public final class ModelContainer: Equatable, @unchecked Sendable {
    // Unchecked: all state is immutable or guarded by a mutex, and the coordinator is safe from every thread.

    public let schema: Schema
    public let migrationPlan: (any SchemaMigrationPlan.Type)?
    let mapped: MappedModel
    let container: NSPersistentContainer
    /// Whether a store is one of the program's own.
    let hasDataStores: Bool
    private let shared: SharedContainerState
    /// The main context; nil in a twin. The program's container holds the main context, and that holds a twin of the container (see
    /// `init(sharing:)`). Two that held each other would never be freed.
    private let ownMain: Mutex<ModelContext?>?

    // MARK: Making

    /// - Throws: see `init(for:migrationPlan:configurations:)` with an array.
    public convenience init(
        for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of the configurations, or the default store without one. A store of an older version of the schema is migrated: by the
    /// plan, or else by what the two versions say.
    /// - Throws: `SwiftDataError` with what to change: a schema that is impossible, two configurations with one name, a store that cannot be opened
    ///   or migrated. No store is changed then.
    public convenience init(
        for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration]
    ) throws {
        try self.init(schema, migrationPlan, configurations)
    }

    init(_ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?, _ all: [any DataStoreConfiguration]) throws {
        let all = Self.toldApart(all.isEmpty ? [ModelConfiguration()] : all)
        let configurations = all.compactMap { $0 as? ModelConfiguration }, others = all.filter { !($0 is ModelConfiguration) }
        for configuration in configurations { try configuration.validate() }
        self.schema = schema
        self.migrationPlan = migrationPlan
        let own = try ManagedModelMaker.mapped(schema)
        shared = SharedContainerState(Set(configurations))
        ownMain = Mutex(nil)
        hasDataStores = !others.isEmpty
        try Self.assign(all, own, schema)
        let links = try others.map { try Self.link($0, schema) }
        let files = configurations.filter { !$0.isStoredInMemoryOnly }
        if let migrationPlan {
            for configuration in files where configuration.asOf == nil {
                try PlannedMigration(plan: migrationPlan, schema: schema).migrate(configuration)
            }
        }
        (mapped, container) = try Self.opened(
            configurations.map { Self.description(of: $0, isAlone: all.count == 1) }, files.map(\.url), own) { try Self.assign(all, $0, schema) }
        try add(links, isAlone: all.count == 1)
    }

    /// Opens the stores by a model that takes the forms of values that they have. A store whose version has forms that no class takes is migrated
    /// first.
    /// - Parameter own: the model of the classes; it is taken if no store differs from it.
    private static func opened(
        _ stores: [NSPersistentStoreDescription], _ files: [URL], _ own: MappedModel, _ assign: (MappedModel) throws -> Void
    ) throws -> (MappedModel, NSPersistentContainer) {
        var migrated: Set<URL> = []
        while true {
            var stored: [String: NSEntityDescription] = [:]
            for file in files.compactMap({ StoreFile($0) }) { stored.merge(file.entities(differingFrom: own.model)) { first, _ in first } }
            let mapped = stored.isEmpty ? own : try ManagedModelMaker.mapped(own.schema, following: stored)
            if mapped !== own { try assign(mapped) }
            let container = NSPersistentContainer(name: "SwiftData", managedObjectModel: mapped.model)
            container.persistentStoreDescriptions = stores
            var failure: (store: NSPersistentStoreDescription, error: any Error)?
            container.loadPersistentStores { store, error in
                if let error, failure == nil { failure = (store, error) }
            }
            guard let failure else { return (mapped, container) }
            guard let url = failure.store.url, !failure.store.isReadOnly, migrated.insert(url).inserted,
                let migration = FormMigration(
                    failure.error, schema: own.schema, following: stored, model: mapped.model, configuration: failure.store.configuration)
            else { throw Self.explained(failure.error) }
            try container.persistentStoreCoordinator.removeAll()
            do { try migration.migrate(url) } catch { throw Self.explained(error) }
        }
    }

    /// A container over the same stores, for the main context of another one.
    private init(sharing other: ModelContainer) {
        schema = other.schema
        migrationPlan = other.migrationPlan
        mapped = other.mapped
        container = other.container
        hasDataStores = other.hasDataStores
        shared = other.shared
        ownMain = nil
    }

    /// Gives another name to a configuration whose name the program has not chosen and another one has, where the stores are two.
    private static func toldApart(_ all: [any DataStoreConfiguration]) -> [any DataStoreConfiguration] {
        guard all.count > 1 else { return all }
        func isUnnamed(_ configuration: any DataStoreConfiguration) -> Bool { (configuration as? ModelConfiguration)?.isNamed == false }
        let named = all.filter { !isUnnamed($0) }
        var names = Set(named.map(\.name)), files = Set(named.compactMap { ($0 as? ModelConfiguration)?.url })
        return all.map { known in
            guard isUnnamed(known), let configuration = known as? ModelConfiguration,
                configuration.isStoredInMemoryOnly || files.insert(configuration.url).inserted
            else { return known }
            var name = configuration.name, number = 1
            while !names.insert(name).inserted {
                number += 1
                name = "\(configuration.name) \(number)"
            }
            return name == configuration.name ? configuration : configuration.renamed(name)
        }
    }

    /// Names the entities of each configuration in the model.
    private static func assign(_ configurations: [any DataStoreConfiguration], _ mapped: MappedModel, _ schema: Schema) throws {
        var names: Set<String> = []
        for configuration in configurations {
            guard names.insert(configuration.name).inserted else {
                throw SwiftDataError.duplicateConfiguration.because("Two configurations are named \"\(configuration.name)\".")
            }
            let wanted = Set((configuration.schema ?? schema).entities.map(\.name))
            let known = mapped.model.entities.filter { wanted.contains($0.name ?? "") }
            guard known.count == wanted.count else {
                let missing = wanted.subtracting(schema.entities.map(\.name)).sorted().joined(separator: ", ")
                throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.because(
                    "The configuration \"\(configuration.name)\" has \(missing), which the container's schema lacks.")
            }
            if configurations.count > 1 { mapped.model.setEntities(known, forConfigurationName: configuration.name) }
        }
    }

    static func description(of configuration: ModelConfiguration, isAlone: Bool) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: configuration.url)
        // A file of Core Data's or SwiftData's is read in place. Where it is to be written, the coordinator makes a record log of it.
        let isReadInPlace = !configuration.allowsSave && StoreFile(configuration.url)?.isSQLite == true
        description.type = configuration.isStoredInMemoryOnly ? NSInMemoryStoreType : isReadInPlace ? NSSQLiteStoreType : NSRecordLogStoreType
        description.isReadOnly = !configuration.allowsSave
        description.configuration = isAlone ? nil : configuration.name
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        if let moment = configuration.asOf { description.setOption(moment.option, forKey: NSRecordLogAsOfOption) }
        return description
    }

    static func explained(_ error: any Error) -> SwiftDataError {
        (error as? SwiftDataError) ?? .loadIssueModelContainer.because("\(error.localizedDescription)", underlying: error)
    }

    // MARK: Contexts

    /// The context of the main actor, which saves by itself.
    @MainActor public var mainContext: ModelContext {
        if let known = shared.mainContext.withLock({ UncheckedSendable($0.context) }).value { return known }
        let made = ModelContext(mainOf: self, twin: ModelContainer(sharing: self))
        let weak = WeakModelContext(context: made)
        shared.mainContext.withLock { $0 = weak }
        let box = UncheckedSendable(made)
        ownMain?.withLock { $0 = box.value }
        return made
    }

    func register(_ inbox: SaveInbox) { shared.register(inbox) }

    /// Whether others than the context of an inbox want to know of its saves.
    func hasInboxes(besides inbox: SaveInbox) -> Bool { shared.inboxes.contains { $0 !== inbox } }

    /// Hands the changes of a save to the other contexts, each of which takes them in at its next use.
    /// - Parameter context: nil for a save of another process.
    func announce(_ changes: SavedChanges, by context: ModelContext?) {
        for other in shared.inboxes where other !== context?.inbox { other.receive(changes) }
    }

    // MARK: Configurations

    public var configurations: Set<ModelConfiguration> {
        get { shared.configurations.withLock { $0 } }
        set { shared.configurations.withLock { $0 = newValue } }
    }

    public func storeIdentifier(forConfigurationNamed name: String) -> String? {
        if let store = dataStores.first(where: { $0.box?.link.name == name }) { return store.identifier }
        guard let url = configurations.first(where: { $0.name == name })?.url else { return nil }
        let stores = container.persistentStoreCoordinator.persistentStores
        return (configurations.count == 1 ? stores.first : stores.first { $0.configurationName == name || $0.url == url })?.identifier
    }

    public func configurationName(forStoreIdentifier identifier: String) -> String? {
        if let store = dataStores.first(where: { $0.identifier == identifier }) { return store.box?.link.name }
        return configurations.first { storeIdentifier(forConfigurationNamed: $0.name) == identifier }?.name
    }

    // MARK: Erasing

    @available(*, deprecated, renamed: "erase()")
    public func deleteAllData() { try? erase() }

    /// Deletes the models of all stores. The stores stay.
    /// - Throws: the error of a store; the models of the stores before it are deleted then.
    public func erase() throws {
        let context = ModelContext(self)
        for entity in try eraseDataStores() {
            let request = NSFetchRequest<ModelObject>(entityName: entity.name ?? "")
            for object in try context.managed.fetch(request) { context.managed.delete(object) }
        }
        try context.save()
    }

    /// A main context that outlives the container that made it has another object for it, which is equal.
    public static func == (a: ModelContainer, b: ModelContainer) -> Bool { a.shared === b.shared }
}

/// Passes a value over a closure's boundary that the caller knows not to leave its thread.
struct UncheckedSendable<Value>: @unchecked Sendable {
    // Unchecked: see above.
    let value: Value
    init(_ value: Value) { self.value = value }
}

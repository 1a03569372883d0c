import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite
import RecordLog

/// A store opened as an application would open it, with the model that it carries or a given one.
final class OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel
    private var missingFiles: MissingValueFiles?
    /// Statements about references of a Core Data store that may be meant otherwise.
    private(set) var doubts: [String] = []
    /// The entities of the store's configuration.
    let entities: [NSEntityDescription]

    /// - Parameters:
    ///   - modelFile: the path of a model, for a Core Data store without one.
    ///   - configuration: the configuration of a new store; an existing store keeps its own.
    ///   - acceptsDamage: whether to open a damaged store at its state before the damage, with a warning.
    ///   - past: the commit as of which to open the store, with the model of then; nil for its newest state.
    convenience init(
        path: String, model: NSManagedObjectModel? = nil, modelFile: String? = nil, configuration: String? = nil, isReadOnly: Bool,
        durability: RecordLogDurability = .full, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false,
        at past: PastCommit? = nil
    ) throws {
        guard !DatabaseStore.isOne(path) else {
            try PastOption.refuse(past)
            guard modelFile == nil else { throw ToolError.usage("--model is for Core Data stores; a store in a database has its model") }
            let stored = try DatabaseStore.transfer(path).storedModel()
            guard let used = model ?? stored?.model else { throw ToolError.usage("\(try DatabaseStore.shown(path)) has no store") }
            let wanted = stored == nil ? configuration : stored?.configuration
            try Self.check(wanted, madeWith: stored == nil ? nil : path, used)
            try self.init(
                NSPostgreSQLStoreType, DatabaseStore.url(path), used, configuration: wanted, options: [NSReadOnlyPersistentStoreOption: isReadOnly])
            return
        }
        let url = URL(fileURLWithPath: path)
        guard !CoreDataStore.isOne(path) else {
            try PastOption.refuse(past)
            if !isReadOnly { try CoreDataStore.refuse(path, CoreDataStore.conversion(path)) }
            let found = try CoreDataStore.model(path, given: modelFile), missing = MissingValueFiles()
            try self.init(
                NSSQLiteStoreType, url, found.model, configuration: found.configuration,
                options: [NSReadOnlyPersistentStoreOption: true, MissingValueFiles.option: missing])
            missingFiles = missing
            doubts = found.doubts
            return
        }
        guard modelFile == nil else { throw ToolError.usage("--model is for Core Data stores; \(path) carries its model, if it is a store") }
        let used = try model ?? DamagedStore.model(
            at: url, usesMemoryMapping: usesMemoryMapping, isAccepted: acceptsDamage, asOf: past, warns: false)
        let made = try StoredModel.configuration(at: url, usesMemoryMapping: usesMemoryMapping, acceptsDamage: acceptsDamage, asOf: past)
        let wanted = made ?? configuration
        try Self.check(wanted, madeWith: made == nil ? nil : path, used)
        var options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: isReadOnly, NSRecordLogDurabilityOption: durability.rawValue,
            NSRecordLogMemoryMappingOption: usesMemoryMapping, NSRecordLogAcceptsDamageOption: acceptsDamage,
        ]
        options[NSRecordLogAsOfOption] = past.map(PastOption.storeOption)
        try self.init(NSRecordLogStoreType, url, used, configuration: wanted, options: options)
        if let damage = log?.damage { DamagedStore.warn(damage) }
        if isReadOnly, past == nil, let bytes = log?.longReplay { CompactCommand.adviseCheckpoint(of: path, bytes) }
    }

    private init(_ type: String, _ url: URL, _ model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]) throws {
        self.url = url
        self.model = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        entities = model.entities(forConfigurationName: configuration) ?? model.entities
        try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url, options: options)
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// - Parameter path: a store that was made with the configuration; nil if it is to be made.
    /// - Throws: if the model has no such configuration.
    static func check(_ configuration: String?, madeWith path: String?, _ model: NSManagedObjectModel) throws {
        guard let configuration, !model.configurations.contains(configuration) else { return }
        throw ToolError.usage(
            "the model has no configuration \"\(configuration)\"\(path.map { ", which \($0) was made with" } ?? ""); it has "
                + model.configurations.sorted().joined(separator: ", "))
    }

    var log: LogStore? { coordinator.persistentStores.first?.recordLog }

    /// The row of the object that a URI names.
    func row(_ uri: String) throws -> RowReference {
        let id = try objectID(uri)
        guard let number = id.rowReference else { throw ToolError.usage("\(uri) names no saved object") }
        return number
    }

    /// The ID that a URI names.
    func objectID(_ uri: String) throws -> NSManagedObjectID {
        guard let url = URL(string: uri), let id = coordinator.managedObjectID(forURIRepresentation: url) else {
            throw ToolError.usage("\(uri) is not the URI of an object of this store (x-coredata://STORE/ENTITY/pNUMBER)")
        }
        return id
    }

    func entity(_ name: String) throws -> NSEntityDescription { try Self.entity(name, among: entities) }

    static func entity(_ name: String, among entities: [NSEntityDescription]) throws -> NSEntityDescription {
        guard let entity = entities.first(where: { $0.name == name }) else {
            let suggestion = Spelling.suggestion(for: name, among: entities.compactMap(\.name))
            throw ToolError.usage(
                "there is no entity \"\(DisplayWidth.printable(name))\"\(DisplayWidth.printable(suggestion)); the model has "
                    + DisplayWidth.printable(entities.compactMap(\.name).sorted().joined(separator: ", ")))
        }
        return entity
    }

    /// Tells on standard error of the values that were left out, since their files are missing.
    func warnOfMissingFiles() {
        guard let findings = missingFiles?.findings, findings.count > 0 else { return }
        Output.warning(
            findings.count == 1
                ? "1 value is left out, since its file is missing:"
                : "\(Output.number(findings.count)) values are left out, since their files are missing:")
        let more = findings.count - findings.lines.count
        for line in findings.lines { Output.error("  \(DisplayWidth.printable(line))") }
        if more > 0 { Output.error("  … and \(Output.number(more)) more") }
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}

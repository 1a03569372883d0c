import Foundation
import SwiftData
import Testing

/// Each value of each type of property, set in each state of a model, and read by each reader.
@Suite struct ValueStateTests {
    enum State: CaseIterable {
        case beforeInsertion, afterInsertion, afterSave, afterReopening, afterRollback, afterRollbackOfInsertion, afterDeletion, afterDeletionByOther
    }

    /// A model of each case in a state, in a context.
    private struct Setting {
        let url: URL
        var container: ModelContainer
        var context: ModelContext
        var models: [Values]

        mutating func reopen() throws {
            models = []
            container = try Self.open(url)
            context = ModelContext(container)
            models = try context.fetch(FetchDescriptor<Values>(sortBy: [SortDescriptor(\.key)]))
        }

        static func open(_ url: URL) throws -> ModelContainer { try ModelContainer(for: Values.self, configurations: ModelConfiguration(url: url)) }
    }

    private func setting(_ state: State, _ cases: [ValueCase]) throws -> Setting {
        let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")
        let container = try Setting.open(url)
        var made = Setting(url: url, container: container, context: ModelContext(container), models: cases.indices.map { Values(key: $0) })
        guard state != .beforeInsertion else { return made }
        for model in made.models { made.context.insert(model) }
        switch state {
        case .beforeInsertion, .afterInsertion: break
        case .afterSave: try made.context.save()
        case .afterReopening:
            try made.context.save()
            try made.reopen()
        case .afterRollback:
            try made.context.save()
            // Each value is there, and goes again.
            for (model, item) in zip(made.models, cases) { item.set(model) }
            made.context.rollback()
        case .afterRollbackOfInsertion: made.context.rollback()
        case .afterDeletion:
            try made.context.save()
            for model in made.models { made.context.delete(model) }
            try made.context.save()
        case .afterDeletionByOther:
            try made.context.save()
            let other = ModelContext(container)
            try other.delete(model: Values.self)
            try other.save()
            _ = try made.context.fetchCount(FetchDescriptor<Values>())
        }
        return made
    }

    @Test(arguments: State.allCases)
    func `Each value that is set in a state is read by every reader`(state: State) throws {
        let cases = ValueCase.all
        var setting = try setting(state, cases)
        defer { try? FileManager.default.removeItem(at: setting.url) }
        try #require(setting.models.count == cases.count)
        for (model, item) in zip(setting.models, cases) {
            if state != .afterDeletionByOther { #expect(model.string == "a" && model.list == [1] && model.optPlace == nil, "\(item.name): before") }
            item.set(model)
            #expect(item.holds(model), "\(item.name): set")
        }
        for model in setting.models { setting.context.insert(model) }
        for (model, item) in zip(setting.models, cases) { #expect(item.holds(model), "\(item.name): inserted") }
        try setting.context.save()
        for (model, item) in zip(setting.models, cases) { #expect(item.holds(model), "\(item.name): saved") }
        let order = FetchDescriptor<Values>(sortBy: [SortDescriptor(\.key)])
        let others = try ModelContext(setting.container).fetch(order)
        #expect(others.count == cases.count)
        for (model, item) in zip(others, cases) { #expect(item.holds(model), "\(item.name): another context") }
        try readBehind(setting, cases)
        try setting.reopen()
        for (model, item) in zip(setting.models, cases) { #expect(item.holds(model), "\(item.name): opened again") }
        for model in setting.models { setting.context.delete(model) }
        for (model, item) in zip(setting.models, cases) { #expect(item.holds(model), "\(item.name): deleted") }
        try setting.context.save()
        for (model, item) in zip(setting.models, cases) { #expect(item.holds(model), "\(item.name): deleted and saved") }
    }

    /// The same store, opened with managed objects.
    private func readBehind(_ setting: Setting, _ cases: [ValueCase]) throws {
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Values.self]))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .recordLog, configuration: nil, at: setting.url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Values")
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            let objects = try context.fetch(request)
            #expect(objects.count == cases.count)
            for (object, item) in zip(objects, cases) { #expect(item.holdsBehind(object), "\(item.name): as a managed object") }
        }
        try coordinator.remove(store)
    }

    @Test(arguments: State.allCases)
    func `Each value that is set in a state and rolled back is as it was`(state: State) throws {
        guard state == .afterSave || state == .afterReopening || state == .afterRollback else { return }
        let cases = ValueCase.all
        let setting = try setting(state, cases)
        defer { try? FileManager.default.removeItem(at: setting.url) }
        for (model, item) in zip(setting.models, cases) { item.set(model) }
        setting.context.rollback()
        let fresh = Values(key: 0)
        for (model, item) in zip(setting.models, cases) {
            // A case of the default value holds for both.
            #expect(item.holds(model) == item.holds(fresh), "\(item.name)")
        }
        #expect(!setting.context.hasChanges)
    }
}

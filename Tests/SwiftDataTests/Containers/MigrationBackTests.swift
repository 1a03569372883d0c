import Foundation
import SwiftData
import Testing

@Suite
struct MigrationBackTests {
    @Test
    func `A plan with a stage from the later version brings a store back`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = ModelConfiguration(url: folder.appending(path: "lamps.store"))
        do {
            let container = try ModelContainer(for: Schema(versionedSchema: BackLater.self), configurations: [configuration])
            let context = ModelContext(container)
            context.insert(BackLater.Lamp(name: "desk", isDimmed: true))
            try context.save()
        }
        let earlier = Schema(versionedSchema: BackEarlier.self)
        #expect(throws: SwiftDataError.backwardMigration) {
            try ModelContainer(for: earlier, migrationPlan: NoWayBack.self, configurations: [configuration])
        }
        let container = try ModelContainer(for: earlier, migrationPlan: WayBack.self, configurations: [configuration])
        #expect(try ModelContext(container).fetch(FetchDescriptor<BackEarlier.Lamp>()).map(\.name) == ["desk"])
    }
}

private enum BackEarlier: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Lamp.self] }

    @Model
    final class Lamp {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum BackLater: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Lamp.self] }

    @Model
    final class Lamp {
        var name: String
        var isDimmed: Bool
        init(name: String, isDimmed: Bool) {
            self.name = name
            self.isDimmed = isDimmed
        }
    }
}

private enum WayBack: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [BackEarlier.self, BackLater.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: BackLater.self, toVersion: BackEarlier.self)] }
}

private enum NoWayBack: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [BackEarlier.self, BackLater.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: BackEarlier.self, toVersion: BackLater.self)] }
}

import Foundation
import SwiftData
import Synchronization

/// Versions of one schema: names get unique, dates get other names, a rack and a class below come in.
enum CrateV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Crate.self, Rack.self] }

    @Model class Crate {
        var name: String
        var start_date: Date
        var size: Int = 1
        var note: String?
        var place: Rack?

        init(_ name: String, start: Date) {
            self.name = name
            start_date = start
        }
    }

    @Model final class Rack {
        var row: Int
        @Relationship(inverse: \Crate.place) var crates: [Crate] = []

        init(_ row: Int) { self.row = row }
    }
}

enum CrateV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Crate.self, Rack.self] }

    @Model class Crate {
        @Attribute(.unique) var name: String
        @Attribute(originalName: "start_date") var start: Date
        var note: String
        var count: Int = 5
        var remark: String?
        var trade: Trade = Trade.timber
        @Relationship(originalName: "place") var rack: Rack?

        init(_ name: String, start: Date) {
            self.name = name
            self.start = start
            note = ""
        }
    }

    @Model final class Rack {
        var row: Int
        @Relationship(deleteRule: .cascade, inverse: \Crate.rack) var crates: [Crate] = []

        init(_ row: Int) { self.row = row }
    }
}

enum CrateV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Crate.self, Rack.self, CoolCrate.self] }

    @Model class Crate {
        @Attribute(.unique) var name: String
        @Attribute(hashModifier: "capitals") var note: String
        var start: Date
        var count: Int = 5
        var remark: String?
        var trade: Trade = Trade.timber
        var rack: Rack?

        init(_ name: String, start: Date) {
            self.name = name
            self.start = start
            note = ""
        }
    }

    @Model final class CoolCrate: Crate {
        var degrees: Int = -18

        override init(_ name: String, start: Date) { super.init(name, start: start) }
    }

    @Model final class Rack {
        var row: Int
        @Relationship(deleteRule: .cascade, inverse: \Crate.rack) var crates: [Crate] = []

        init(_ row: Int) { self.row = row }
    }
}

enum CratePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [CrateV1.self, CrateV2.self, CrateV3.self] }
    static var stages: [MigrationStage] { [toV2, toV3] }

    static let toV2 = MigrationStage.custom(
        fromVersion: CrateV1.self, toVersion: CrateV2.self,
        willMigrate: { context in
            var descriptor = FetchDescriptor<CrateV1.Crate>(sortBy: [SortDescriptor(\.start_date)])
            descriptor.propertiesToFetch = [\.name]
            descriptor.relationshipKeyPathsForPrefetching = [\.place]
            var names: Set<String> = []
            for crate in try context.fetch(descriptor) {
                if !names.insert(crate.name).inserted { context.delete(crate) }
                if crate.note == nil { crate.note = "none" }
            }
            try context.save()
        },
        didMigrate: nil)

    static let toV3 = MigrationStage.custom(
        fromVersion: CrateV2.self, toVersion: CrateV3.self, willMigrate: nil,
        didMigrate: { context in
            for crate in try context.fetch(FetchDescriptor<CrateV3.Crate>()) { crate.note += "!" }
            try context.save()
        })
}

/// Stages that note that they run. One test uses them.
enum NotingPlan: SchemaMigrationPlan {
    static let seen = Mutex<[String]>([])
    static var schemas: [any VersionedSchema.Type] { [CrateV1.self, CrateV2.self, CrateV3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: CrateV1.self, toVersion: CrateV2.self,
                willMigrate: { context in
                    let crates = try context.fetch(FetchDescriptor<CrateV1.Crate>())
                    seen.withLock { $0.append("will 2: \(crates.count)") }
                    for crate in crates { crate.note = "old" }
                    try context.save()
                },
                didMigrate: { context in
                    let notes = try context.fetch(FetchDescriptor<CrateV2.Crate>()).map(\.note)
                    seen.withLock { $0.append("did 2: \(notes)") }
                }),
            .custom(
                fromVersion: CrateV2.self, toVersion: CrateV3.self,
                willMigrate: { _ in seen.withLock { $0.append("will 3") } }, didMigrate: { _ in seen.withLock { $0.append("did 3") } }),
        ]
    }
}

enum FailingPlan: SchemaMigrationPlan {
    struct Failure: Error {}

    static var schemas: [any VersionedSchema.Type] { [CrateV1.self, CrateV2.self] }
    static var stages: [MigrationStage] {
        [.custom(fromVersion: CrateV1.self, toVersion: CrateV2.self, willMigrate: { _ in throw Failure() }, didMigrate: nil)]
    }
}

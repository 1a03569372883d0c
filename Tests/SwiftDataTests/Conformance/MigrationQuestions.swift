import Foundation
import SwiftData
import Synchronization
import Testing

/// How stores come from one version of a schema to another. Stores in memory have no older version.
@Suite struct MigrationQuestions {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var configuration: ModelConfiguration { ModelConfiguration(url: folder.url.appending(path: "models.store")) }

    private func open(_ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil) throws -> ModelContext {
        ModelContext(try ModelContainer(for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [configuration]))
    }

    /// A store of the first version: crates of the names in one rack, the first with a note.
    private func makeFirst(_ names: [String] = ["a", "b"]) throws {
        let context = try open(CrateV1.self), rack = CrateV1.Rack(3)
        context.insert(rack)
        for (index, name) in names.enumerated() {
            let crate = CrateV1.Crate(name, start: day(Double(index)))
            crate.note = index == 0 ? "kept" : nil
            crate.place = rack
            context.insert(crate)
        }
        try context.save()
    }

    private func crates(_ context: ModelContext) throws -> [CrateV2.Crate] { try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)])) }

    @Test(.reference("versionedschema"))
    func `A schema has the version and the classes of its type`() {
        let schema = Schema(versionedSchema: CrateV2.self)
        #expect(schema.version == Schema.Version(2, 0, 0))
        #expect(Set(schema.entities.map(\.name)) == ["Crate", "Rack"])
    }

    @Test(.reference("modelcontainer/migrationplan"))
    func `A container has its plan`() throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: CrateV3.self), migrationPlan: CratePlan.self,
            configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
        #expect(container.migrationPlan == CratePlan.self)
        let other = try ModelContainer(for: Schema(versionedSchema: CrateV3.self), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
        #expect(other.migrationPlan == nil)
    }

    @Test(.wwdc(2023, 10195, "deduplication in willMigrate before names are unique"))
    func `A custom stage prepares the old models for the new version`() throws {
        try makeFirst(["a", "b", "a"])
        let found = try crates(open(CrateV2.self, CratePlan.self))
        #expect(found.map(\.name) == ["a", "b"])
    }

    @Test(.wwdc(2023, 10195, "original names"))
    func `A renamed property keeps its values`() throws {
        try makeFirst()
        #expect(try crates(open(CrateV2.self, CratePlan.self)).map(\.start) == [day(0), day(1)])
    }

    @Test(.reference("relationship(_:deleterule:minimummodelcount:maximummodelcount:originalname:inverse:hashmodifier:)"))
    func `A renamed relationship keeps its models`() throws {
        try makeFirst()
        let context = try open(CrateV2.self, CratePlan.self)
        #expect(try crates(context).map { $0.rack?.row } == [3, 3])
        #expect(try context.fetch(FetchDescriptor<CrateV2.Rack>()).map(\.crates.count) == [2])
    }

    @Test(.wwdc(2023, 10195, "lightweight changes"))
    func `A new property has its default, or nil`() throws {
        try makeFirst()
        let found = try crates(open(CrateV2.self, CratePlan.self))
        #expect(found.map(\.count) == [5, 5])
        #expect(found.map(\.remark) == [nil, nil])
        #expect(found.map(\.trade) == [.timber, .timber])
    }

    @Test(.forum(732950, "a property that may be nil becomes one that may not"))
    func `willMigrate fills what the new version requires`() throws {
        try makeFirst()
        #expect(try crates(open(CrateV2.self, CratePlan.self)).map(\.note) == ["kept", "none"])
    }

    @Test(.wwdc(2023, 10195, "a rule of deletion is a lightweight change"))
    func `A new rule of deletion holds after the migration`() throws {
        try makeFirst()
        let context = try open(CrateV2.self, CratePlan.self)
        context.delete(try #require(context.fetch(FetchDescriptor<CrateV2.Rack>()).first))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<CrateV2.Crate>()) == 0)
    }

    @Test(.reference("attribute(_:originalname:hashmodifier:)"))
    func `A hash modifier alone makes another version, and its stage runs`() throws {
        try makeFirst(["a"])
        _ = try open(CrateV2.self, CratePlan.self)
        let context = try open(CrateV3.self, CratePlan.self)
        #expect(try context.fetch(FetchDescriptor<CrateV3.Crate>()).map(\.note) == ["kept!"])
    }

    @Test(.wwdc(2025, 291, "a version with subclasses"))
    func `Models stay in their class where a class comes below it`() throws {
        try makeFirst()
        let context = try open(CrateV3.self, CratePlan.self)
        context.insert(CrateV3.CoolCrate("c", start: day(2)))
        try context.save()
        let found = try context.fetch(FetchDescriptor<CrateV3.Crate>(sortBy: [SortDescriptor(\.name)]))
        #expect(found.map { $0 is CrateV3.CoolCrate } == [false, false, true])
        #expect(found.map(\.rack?.row) == [3, 3, nil])
    }

    @Test(.wwdc(2025, 291, "the plan has the order of the stages"))
    func `Stages run once, in their order, on old models and then on new ones`() throws {
        try makeFirst()
        _ = try open(CrateV3.self, NotingPlan.self)
        let all = ["will 2: 2", "did 2: [\"old\", \"old\"]", "will 3", "did 3"]
        #expect(NotingPlan.seen.withLock { $0 } == all)
        _ = try open(CrateV3.self, NotingPlan.self)
        #expect(NotingPlan.seen.withLock { $0 } == all)
    }

    @Test(.reference("schemamigrationplan"))
    func `A plan begins at the version of the store`() throws {
        let context = try open(CrateV2.self), crate = CrateV2.Crate("a", start: day(1))
        crate.note = "second"
        context.insert(crate)
        try context.save()
        #expect(try open(CrateV3.self, CratePlan.self).fetch(FetchDescriptor<CrateV3.Crate>()).map(\.note) == ["second!"])
    }

    @Test(.forum(732950, "the implicit schema is that of the first version"))
    func `A store that was made without versions is of the plan's first`() throws {
        do {
            let container = try ModelContainer(for: CrateV1.Crate.self, CrateV1.Rack.self, configurations: configuration)
            let context = ModelContext(container)
            context.insert(CrateV1.Crate("a", start: day(1)))
            try context.save()
        }
        #expect(try crates(open(CrateV2.self, CratePlan.self)).map(\.note) == ["none"])
    }

    @Test(.reference("modelcontainer"))
    func `A new store needs no stage`() throws {
        let context = try open(CrateV2.self, FailingPlan.self)
        context.insert(CrateV2.Crate("a", start: day(1)))
        try context.save()
        #expect(try open(CrateV2.self, FailingPlan.self).fetchCount(FetchDescriptor<CrateV2.Crate>()) == 1)
    }

    @Test(.reference("migrationstage/custom(fromversion:toversion:willmigrate:didmigrate:)"))
    func `The error of a stage is that of the container, and the store is as before`() throws {
        try makeFirst()
        #expect(throws: FailingPlan.Failure.self) { try open(CrateV2.self, FailingPlan.self) }
        #expect(try open(CrateV1.self).fetchCount(FetchDescriptor<CrateV1.Crate>()) == 2)
    }

    @Test(.reference("swiftdataerror/unknowndatastoreschema"))
    func `A store of no version of the plan is refused`() throws {
        do {
            let container = try ModelContainer(for: Parcel.self, configurations: configuration)
            ModelContext(container).insert(Parcel(1))
        }
        #expect(throws: SwiftDataError.unknownDataStoreSchema) { try open(CrateV2.self, CratePlan.self) }
    }

    @Test(.reference("swiftdataerror/backwardmigration"))
    func `A store of a later version is refused`() throws {
        _ = try open(CrateV3.self, CratePlan.self)
        #expect(throws: SwiftDataError.backwardMigration) { try open(CrateV1.self, CratePlan.self) }
    }

    @Test(.reference("migrationstage/lightweight(fromversion:toversion:)"))
    func `A lightweight stage takes what the classes say`() throws {
        enum Plan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [CrateV2.self, CrateV3.self] }
            static var stages: [MigrationStage] { [.lightweight(fromVersion: CrateV2.self, toVersion: CrateV3.self)] }
        }
        let context = try open(CrateV2.self), crate = CrateV2.Crate("a", start: day(1))
        crate.note = "light"
        context.insert(crate)
        try context.save()
        let found = try open(CrateV3.self, Plan.self).fetch(FetchDescriptor<CrateV3.Crate>())
        #expect(found.map(\.note) == ["light"] && found.map(\.start) == [day(1)])
    }
}

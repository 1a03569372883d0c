import Foundation
import SwiftData
import Testing

/// A store of each version of a schema, opened by a plan to each later version, and compared with a plain expectation.
/// One after the other: a stage carries values from the old models to the new ones in one place.
@Suite(.serialized) struct FamilyMigrationTests {
    private static let newest = FamilyPlan.versions.count
    private static let ways = (1..<newest).flatMap { from in (from + 1...newest).map { (from, $0) } }

    private let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")

    private func open(_ version: Int, isPlanned: Bool = true) throws -> ModelContext {
        let schema = Schema(versionedSchema: FamilyPlan.versions[version - 1])
        return ModelContext(
            try ModelContainer(for: schema, migrationPlan: isPlanned ? FamilyPlan.self : nil, configurations: ModelConfiguration(url: url)))
    }

    private func make(_ version: Int) throws -> PlainFamily {
        let context = try open(version, isPlanned: false)
        PlainFamily.make(version, in: context)
        try context.save()
        return try PlainFamily.read(version, in: context)
    }

    private func expected(_ plain: PlainFamily, from: Int, to: Int) -> PlainFamily {
        var plain = plain
        for version in from..<to { plain.migrate(from: version) }
        return plain
    }

    @Test(arguments: ways)
    func `A store of each version comes to each later one`(from: Int, to: Int) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let plain = try make(from)
        #expect(plain.persons.count == 4 && plain.pets.count >= 3)
        do {
            let context = try open(to)
            #expect(try PlainFamily.read(to, in: context) == expected(plain, from: from, to: to))
            #expect(throws: SwiftDataError.backwardMigration) { try open(from) }
        }
        // The next opening has nothing to do; and further versions can follow.
        #expect(try PlainFamily.read(to, in: open(to)) == expected(plain, from: from, to: to))
        #expect(try PlainFamily.read(Self.newest, in: open(Self.newest)) == expected(plain, from: from, to: Self.newest))
    }

    @Test(arguments: ways)
    func `A plan with a gap is refused, and leaves the store as it was`(from: Int, to: Int) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let plain = try make(from)
        for gap in from..<to {
            #expect(throws: SwiftDataError.loadIssueModelContainer, "without \(gap)") { try FamilyPlan.$missing.withValue([gap]) { try open(to) } }
            #expect(try PlainFamily.read(from, in: open(from)) == plain, "without \(gap)")
        }
        // A gap elsewhere is none.
        let found = try FamilyPlan.$missing.withValue(Set(1..<Self.newest).subtracting(from..<to)) { try PlainFamily.read(to, in: open(to)) }
        #expect(found == expected(plain, from: from, to: to))
    }

    @Test(arguments: ways, FamilyPlan.Moment.allCases)
    func `A stage that throws leaves the store as it was, and a second try works`(way: (from: Int, to: Int), moment: FamilyPlan.Moment) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let plain = try make(way.from)
        for stage in way.from..<way.to {
            #expect(throws: FamilyPlan.Failure.self, "stage \(stage)") { try FamilyPlan.$failing.withValue((stage, moment)) { try open(way.to) } }
            #expect(try PlainFamily.read(way.from, in: open(way.from)) == plain, "stage \(stage)")
            let name = url.lastPathComponent
            let left = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path).filter { $0.contains(name) }
            #expect(left.filter { $0.contains("migrating") }.isEmpty, "\(left)")
        }
        #expect(try PlainFamily.read(way.to, in: open(way.to)) == expected(plain, from: way.from, to: way.to))
    }
}

import Foundation
import Glibc
import Heartwood

/// Measures the migration of a full store to another version of its model when a coordinator adds it, beside SQLite's statements for the same
/// change.
struct MigrationExtras {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    private struct Step {
        let name: String
        let sql: String
        let change: (NSEntityDescription) -> Void
    }

    private static var steps: [Step] {
        [
            Step(name: "version: an optional attribute more", sql: "ALTER TABLE person ADD COLUMN nickname TEXT") { person in
                person.properties.append(attribute("nickname", .stringAttributeType))
            },
            Step(name: "version: a number more, 7 in each row", sql: "ALTER TABLE person ADD COLUMN level INTEGER NOT NULL DEFAULT 7") { person in
                let level = attribute("level", .integer64AttributeType)
                level.isOptional = false
                level.defaultValue = 7
                person.properties.append(level)
            },
            Step(name: "version: an attribute renamed", sql: "ALTER TABLE person RENAME COLUMN score TO points") { person in
                person.attributesByName["score"]?.renamingIdentifier = "score"
                person.attributesByName["score"]?.name = "points"
            },
            Step(name: "version: an attribute less", sql: "ALTER TABLE person DROP COLUMN note") { person in
                person.properties.removeAll { $0.name == "note" }
            },
        ]
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    func run() throws -> [Measurement] {
        let steps = Self.steps.filter { step in only.map { step.name.contains($0) } ?? true }
        guard !steps.isEmpty else { return [] }
        FileHandle.standardError.write(Data("  versions\n".utf8))
        let generator = PersonGenerator(count: rows)
        let types: [any Peer.Type] = [HeartwoodPeer.self, SQLitePeer.self]
        let paths = types.indices.map { directory.appendingPathComponent("version-\($0)").path }
        defer { paths.forEach(PeerFiles.remove) }
        for (index, type) in types.enumerated() {
            let peer = try type.init(path: paths[index], generator: generator)
            try peer.open()
            try peer.bulkInsert()
            try peer.close()
        }
        sync()
        var result: [Measurement] = []
        for step in steps {
            let ways = [{ try migrate($0, step) }, { try alter($0, step) }]
            var times = [[Double]](repeating: [], count: ways.count)
            for repetition in 0..<repetitions {
                for index in ways.indices.map({ ($0 + repetition) % ways.count }) {
                    let copy = paths[index] + "-copy"
                    PeerFiles.remove(copy)
                    defer { PeerFiles.remove(copy) }
                    try FileManager.default.copyItem(atPath: paths[index], toPath: copy)
                    sync()
                    times[index].append(try Clock.seconds { try ways[index](copy) }.1)
                }
            }
            for (index, type) in types.enumerated() {
                result.append(Measurement(
                    workload: step.name, rows: rows, peer: type.name, value: Clock.median(times[index]) * 1e3, unit: "ms"))
            }
        }
        return result
    }

    private func migrate(_ path: String, _ step: Step) throws {
        let model = HeartwoodPeer.model()
        step.change(model.entitiesByName["Person"] ?? NSEntityDescription())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        try coordinator.remove(store)
    }

    private func alter(_ path: String, _ step: Step) throws {
        let connection = SQLiteConnection()
        try connection.open(path)
        try connection.execute(SQLitePeer.pragmas())
        try connection.execute(step.sql)
        connection.close()
    }
}

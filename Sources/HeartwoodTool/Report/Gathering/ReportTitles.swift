import Foundation
import Heartwood
import RecordLog

/// Names objects and times in a report.
struct ReportTitles {
    private let entities: [NSEntityDescription]
    private let positions: [String: Int]

    /// - Parameter entities: in the order of the report's tables.
    init(_ entities: [NSEntityDescription]) {
        self.entities = entities
        positions = Dictionary(entities.enumerated().map { ($0.element.title, $0.offset) }) { first, _ in first }
    }

    /// The position of an object's entity, a dot, and the last part of its URI.
    func id(_ object: NSManagedObjectID) -> String {
        "\(positions[object.entity.title] ?? -1).\(object.uriRepresentation().lastPathComponent)"
    }

    /// The same of a row in a log's table; nil if the table is not an entity's.
    func id(_ table: String, row: UInt64) -> String? { positions[table].map { "\($0).p\(row)" } }

    /// The object that an ID names in a store.
    func object(_ id: String, _ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectID? {
        let parts = id.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let position = Int(parts[0]), entities.indices.contains(position) else { return nil }
        return URL(string: "\(Self.prefix(coordinator))\(entities[position].title)/\(parts[1])")
            .flatMap(coordinator.managedObjectID(forURIRepresentation:))
    }

    /// The URI of an object up to its entity.
    static func prefix(_ coordinator: NSPersistentStoreCoordinator) -> String {
        "x-coredata://\(coordinator.persistentStores.first?.identifier ?? "")/"
    }

    static func milliseconds(_ date: Date) -> Double { (date.timeIntervalSince1970 * 1000).rounded() }

    static func milliseconds(_ microseconds: Int64) -> Double { (Double(microseconds) / 1000).rounded() }
}

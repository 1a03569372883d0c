import Foundation
import Heartwood

/// Finds out whether attributes have a value in any row, of which no row of a report's sample has one.
struct ReportUseGathering {
    /// The most rows that all searches together look at.
    private static let rowsMax = 5_000_000

    let open: OpenStore
    let rows: ReportRows
    let counts: [String: Int]

    /// - Returns: by the entity that declares an attribute. An attribute is absent if a row of the sample has a value, and if the search would be
    ///   too long.
    func isUsed() -> [String: [String: Bool]] {
        var left = Self.rowsMax, found: [String: [String: Bool]] = [:]
        for entity in open.entities {
            let family = Self.family(entity), tables = rows.tables.filter { family.contains($0.entity) }
            let objects = family.reduce(0) { $0 + (counts[$1] ?? 0) }
            guard objects > 0 else { continue }
            for attribute in entity.ownProperties.compactMap({ $0 as? NSAttributeDescription }) where !attribute.isTransient {
                guard !tables.contains(where: { Self.hasValue($0, attribute.name) }) else { continue }
                // The sample has each row.
                if tables.allSatisfy({ $0.failure == nil && $0.objects.map { $0 <= rows.limit } ?? false }) {
                    found[entity.title, default: [:]][attribute.name] = false
                } else if left >= objects, let isUsed = isUsed(attribute, of: entity) {
                    left -= objects
                    found[entity.title, default: [:]][attribute.name] = isUsed
                }
            }
        }
        return found
    }

    private static func family(_ entity: NSEntityDescription) -> Set<String> {
        entity.subentities.reduce(into: [entity.title]) { $0.formUnion(family($1)) }
    }

    private static func hasValue(_ table: ReportRows.Table, _ name: String) -> Bool {
        guard let column = table.columns.firstIndex(where: { $0.name == name }) else { return false }
        return table.rows.contains { if case .null = $0.cells[column] { false } else { true } }
    }

    private func isUsed(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) -> Bool? {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.title)
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: "%K != nil", attribute.name)
        request.fetchLimit = 1
        return (try? open.context.fetch(request)).map { !$0.isEmpty }
    }
}

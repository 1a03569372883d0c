import Foundation
import Heartwood
import RecordLog

/// Compares two states of a store for a report.
struct ReportDifferenceGathering {
    private static let objectsMax = 1000
    private static let propertiesMax = 60
    private static let textMax = 300

    /// The store with the older state, and the file with the newer one.
    let old: String
    let new: String
    let from: PastCommit?
    let to: PastCommit?

    func difference() throws -> ReportDifference {
        for path in [old, new] { try CoreDataStore.refuse(path, "only record logs are compared; \(CoreDataStore.conversion(path))") }
        let one = try OpenStore(path: old, isReadOnly: true, at: from), other = try OpenStore(path: new, isReadOnly: true, at: to)
        var result = ReportDifference(old: Self.title(old, from), new: Self.title(new, to), counts: [:], objects: [])
        guard let before = one.coordinator.persistentStores.first, let after = other.coordinator.persistentStores.first else { return result }
        try StoreComparison(from: before, to: after).run { object in
            result.counts[object.kind.rawValue, default: 0] += 1
            guard result.objects.count < Self.objectsMax else { return }
            result.objects.append(ReportDifference.Object(
                kind: object.kind.rawValue, entity: object.entity, id: URL(string: object.object)?.lastPathComponent ?? object.object,
                properties: object.properties.prefix(Self.propertiesMax).map(Self.property)))
        }
        return result
    }

    private static func title(_ path: String, _ past: PastCommit?) -> String {
        let name = URL(fileURLWithPath: path).lastPathComponent
        return switch past {
        case nil: "\(name), newest"
        case .number(let number)?: "\(name), commit \(number)"
        case .time(let time)?: "\(name), \(CommitText.time(time))"
        }
    }

    private static func property(_ property: PropertyDifference) -> ReportDifference.Property {
        func cut(_ text: String?) -> String? { text.map { $0.count > textMax ? $0.prefix(textMax) + "…" : $0 } }
        let (old, new) = DifferenceText.sides(property.change)
        return ReportDifference.Property(name: property.name, old: cut(old), new: cut(new))
    }
}

import Foundation
import Heartwood
import RecordLog

/// Compares two states of a store, or two stores, for a report.
struct ReportDifferenceGathering {
    private static let objectsMax = 1000
    private static let propertiesMax = 60
    private static let textMax = 300

    let old: ComparedStore
    let new: ComparedStore

    func difference() throws -> ReportDifference {
        try old.withOpen { one in try new.withOpen { other in try difference(one, other) } }
    }

    private func difference(_ one: OpenStore, _ other: OpenStore) throws -> ReportDifference {
        let changes = ModelDifference(from: Self.loaded(old, one), to: Self.loaded(new, other)).changes
        var result = ReportDifference(
            old: Self.title(old), new: Self.title(new), entities: try Self.counts(one, other),
            model: changes.map { ReportDifference.ModelChange(sign: $0.sign, element: $0.element, text: $0.text) })
        guard let before = one.coordinator.persistentStores.first, let after = other.coordinator.persistentStores.first else { return result }
        guard before.identifier == after.identifier else {
            result.note = "These are two stores, not two states of one: their objects have nothing to do with each other."
            return result
        }
        try StoreComparison(from: before, to: after).run { object in
            result.counts[object.kind.rawValue, default: 0] += 1
            guard result.objects.count < Self.objectsMax else { return }
            result.objects.append(ReportDifference.Object(
                kind: object.kind.rawValue, entity: object.entity, id: URL(string: object.object)?.lastPathComponent ?? object.object,
                properties: object.properties.prefix(Self.propertiesMax).map(Self.property)))
        }
        return result
    }

    private static func loaded(_ store: ComparedStore, _ open: OpenStore) -> LoadedModel {
        LoadedModel(name: URL(fileURLWithPath: store.path).lastPathComponent, model: open.model)
    }

    /// The objects of each entity, without those of its subentities.
    private static func counts(_ one: OpenStore, _ other: OpenStore) throws -> [ReportDifference.Count] {
        func counts(_ open: OpenStore) throws -> [String: Int] {
            var counts: [String: Int] = [:]
            for entity in open.entities where !entity.isAbstract {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.title)
                request.includesSubentities = false
                counts[entity.title] = try open.context.count(for: request)
            }
            return counts
        }
        let before = try counts(one), after = try counts(other)
        return Set(before.keys).union(after.keys).sorted().map { ReportDifference.Count(entity: $0, old: before[$0], new: after[$0]) }
    }

    private static func title(_ store: ComparedStore) -> String {
        let name = URL(fileURLWithPath: store.path).lastPathComponent
        return switch store.past {
        case nil: "\(name), newest"
        case .number(let number)?: "\(name), commit \(number)"
        case .time(let time)?: "\(name), \(CommitText.time(time))"
        }
    }

    private static func property(_ property: PropertyDifference) -> ReportDifference.Property {
        func cut(_ text: String?) -> String? { text.map { $0.count > textMax ? $0.prefix(textMax) + "…" : $0 } }
        let (old, new) = DifferenceText.sides(property.change)
        var result = ReportDifference.Property(name: property.name, old: cut(old), new: cut(new))
        // Dates that differ by less than a page shows stand as the exact texts.
        if case .attribute(let old, let new) = property.change {
            let times = (old: time(old), new: time(new))
            if times.old != times.new { (result.oldTime, result.newTime) = times }
        }
        return result
    }

    private static func time(_ value: PropertyDifference.Value?) -> Double? { (value?.object as? Date).map(ReportTitles.milliseconds) }
}

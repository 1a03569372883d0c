import Foundation

/// The checked sort keys of a context's newest fetches: a program sorts by few keys, and makes a new descriptor each time.
struct OrderCache {
    private struct Known {
        let entity: NSEntityDescription
        let keys: [SortKey]
        /// The key of each descriptor.
        let names: [String]
    }

    private static let limit = 8
    private var known: [Known] = []

    /// Returns the sort keys of descriptors.
    /// - Throws: for a descriptor that stores cannot sort by.
    mutating func keys(of descriptors: [NSSortDescriptor], _ entity: NSEntityDescription) throws -> [SortKey] {
        guard !descriptors.isEmpty else { return [] }
        let probes = descriptors.map(SortProbe.init)
        // An entity that is not immutable may still get other properties.
        guard entity.isImmutable, probes.allSatisfy({ $0.keyPath == nil && $0.key != nil }) else { return try Self.made(descriptors, probes, entity) }
        for one in known where one.entity === entity && one.keys.count == probes.count {
            let isSame = probes.indices.allSatisfy { index in
                one.keys[index].isAscending == descriptors[index].ascending && one.keys[index].textOrder == probes[index].textOrder
                    && one.names[index].hasSameBytes(as: probes[index].key ?? "")
            }
            if isSame { return one.keys }
        }
        let keys = try Self.made(descriptors, probes, entity)
        if known.count >= Self.limit { known.removeFirst() }
        known.append(Known(entity: entity, keys: keys, names: probes.compactMap(\.key)))
        return keys
    }

    private static func made(_ descriptors: [NSSortDescriptor], _ probes: [SortProbe], _ entity: NSEntityDescription) throws -> [SortKey] {
        try zip(descriptors, probes).map { try SortKey($0, $1, entity: entity) }
    }
}

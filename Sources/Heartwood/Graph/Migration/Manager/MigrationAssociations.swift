/// The pairs of source and destination objects that one entity mapping has associated. They are stored as keys, so that the objects can be
/// released. About 80 bytes a pair.
struct MigrationAssociations {
    private(set) var sources: [ObjectKey] = []
    /// An object's key is temporary until the object is saved.
    private(set) var destinations: [ObjectKey] = []
    private var bySource = Chains()
    private var byDestination = Chains()
    private var pairs: Set<Pair> = []

    private struct Pair: Hashable {
        let source, destination: ObjectKey
    }

    /// The indices of pairs by one of their keys: the first index of each key, and the next index after each.
    private struct Chains {
        private var first: [ObjectKey: UInt32] = [:]
        private var last: [ObjectKey: UInt32] = [:]
        private var next: [UInt32: UInt32] = [:]

        mutating func add(_ index: UInt32, for key: ObjectKey) {
            if first[key] == nil {
                first[key] = index
            } else {
                next[last[key] ?? first[key] ?? index] = index
                last[key] = index
            }
        }

        func first(of key: ObjectKey) -> Int? { first[key].map(Int.init) }

        mutating func rename(_ key: ObjectKey, to new: ObjectKey) {
            if let known = first.removeValue(forKey: key) { first[new] = known }
            if let known = last.removeValue(forKey: key) { last[new] = known }
        }

        func indexes(of key: ObjectKey, _ body: (Int) -> Void) {
            var index = first[key]
            while let known = index {
                body(Int(known))
                index = next[known]
            }
        }
    }

    var count: Int { sources.count }

    /// Whether a pair is the first one of its object of the destination.
    func isFirst(_ index: Int) -> Bool { byDestination.first(of: destinations[index]) == index }

    mutating func add(_ source: ObjectKey, _ destination: ObjectKey) {
        let index = UInt32(truncatingIfNeeded: sources.count)
        guard pairs.insert(Pair(source: source, destination: destination)).inserted else { return }
        sources.append(source)
        destinations.append(destination)
        bySource.add(index, for: source)
        byDestination.add(index, for: destination)
    }

    /// Replaces a key after the object was saved.
    mutating func rename(_ key: ObjectKey, to new: ObjectKey) {
        var indexes: [Int] = []
        byDestination.indexes(of: key) { indexes.append($0) }
        for index in indexes {
            pairs.remove(Pair(source: sources[index], destination: key))
            pairs.insert(Pair(source: sources[index], destination: new))
            destinations[index] = new
        }
        byDestination.rename(key, to: new)
    }

    func destinations(of source: ObjectKey) -> [ObjectKey] {
        var found: [ObjectKey] = []
        bySource.indexes(of: source) { found.append(destinations[$0]) }
        return found
    }

    func sources(of destination: ObjectKey) -> [ObjectKey] {
        var found: [ObjectKey] = []
        byDestination.indexes(of: destination) { found.append(sources[$0]) }
        return found
    }
}

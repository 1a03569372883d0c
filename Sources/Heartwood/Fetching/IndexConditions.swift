/// What each of some tests says in an index's terms; nil for one that says nothing.
struct IndexConditions {
    private let conditions: [IndexCondition?]

    init(_ tests: [RowTest]) {
        conditions = tests.map(\.indexCondition)
    }

    subscript(place: Int) -> IndexCondition? { conditions[place] }

    /// The first test that says of a key what is looked for.
    @inline(__always)
    private func first(_ key: IndexKey, where isWanted: (IndexCondition) -> Bool = { _ in true }) -> Int? {
        for place in conditions.indices {
            if let condition = conditions[place], condition.key == key, isWanted(condition) { return place }
        }
        return nil
    }

    func isNamed(_ key: IndexKey) -> Bool { first(key) != nil }

    /// The test that states a key's one value.
    func exactValue(of key: IndexKey) -> Int? { first(key) { $0.isExact && $0.components?.count == 1 } }

    /// The test that has the fewest values of a key to offer.
    func shortestList(_ key: IndexKey) -> Int? {
        var best: (place: Int, count: Int)?
        for place in conditions.indices {
            guard let condition = conditions[place], condition.key == key, let count = condition.components?.count,
                count < best?.count ?? .max
            else { continue }
            best = (place, count)
        }
        return best?.place
    }

    /// Between which components of a key all rows are for which the tests hold, as far as the tests that are `used` say.
    func range(_ key: IndexKey) -> (range: ComponentRange, used: [Int])? {
        // A prefix and the ends of a range do not narrow each other; the prefix alone is taken, and the others are tested.
        if let place = first(key, where: \.isPrefix), let range = conditions[place]?.range { return (range, [place]) }
        var result = ComponentRange()
        var used: [Int] = []
        for place in conditions.indices {
            guard let condition = conditions[place], condition.key == key, let range = condition.range else { continue }
            result.narrow(to: range)
            used.append(place)
        }
        return used.isEmpty ? nil : (result, used)
    }
}

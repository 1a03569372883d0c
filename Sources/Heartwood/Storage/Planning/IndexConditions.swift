/// What some tests say in an index's terms. A test is named by its place among them.
struct IndexConditions {
    private var conditions: [(place: Int, condition: IndexCondition)] = []

    init(_ tests: [RowFilter]) {
        for (index, test) in tests.enumerated() {
            if let condition = test.indexCondition { conditions.append((index, condition)) }
        }
    }

    /// Whether none says anything.
    var isEmpty: Bool { conditions.isEmpty }

    /// What a test says; nil for nothing.
    subscript(place: Int) -> IndexCondition? {
        for at in conditions.indices where conditions[at].place == place { return conditions[at].condition }
        return nil
    }

    /// The first test that says of a key what is looked for.
    @inline(__always)
    private func first(_ key: IndexKey, where isWanted: (IndexCondition) -> Bool = { _ in true }) -> Int? {
        for at in conditions.indices where conditions[at].condition.key == key && isWanted(conditions[at].condition) { return conditions[at].place }
        return nil
    }

    func isNamed(_ key: IndexKey) -> Bool { first(key) != nil }

    /// The test that states a key's one value.
    func exactValue(of key: IndexKey) -> Int? { first(key) { $0.isExact && $0.components?.count == 1 } }

    /// The test that has the fewest values of a key to offer.
    func shortestList(_ key: IndexKey) -> Int? {
        var best: (place: Int, count: Int)?
        for known in conditions where known.condition.key == key {
            guard let count = known.condition.components?.count, count < best?.count ?? .max else { continue }
            best = (known.place, count)
        }
        return best?.place
    }

    /// Between which components of a key all rows are for which the tests hold, as far as the tests that are `used` say.
    func range(_ key: IndexKey) -> (range: ComponentRange, used: [Int])? {
        // A prefix and the ends of a range do not narrow each other; the prefix alone is taken, and the others are tested.
        if let place = first(key, where: \.isPrefix), let range = self[place]?.range { return (range, [place]) }
        var result = ComponentRange()
        var used: [Int] = []
        for known in conditions where known.condition.key == key {
            guard let range = known.condition.range else { continue }
            result.narrow(to: range)
            used.append(known.place)
        }
        return used.isEmpty ? nil : (result, used)
    }
}

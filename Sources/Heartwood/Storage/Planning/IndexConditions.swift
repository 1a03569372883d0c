/// The index conditions of a list of tests. Each test is identified by its index in the list.
struct IndexConditions {
    private var conditions: [(test: Int, condition: IndexCondition)] = []

    init(_ tests: [RowFilter]) {
        for (index, test) in tests.enumerated() {
            if let condition = test.indexCondition { conditions.append((index, condition)) }
        }
    }

    /// Whether no test has an index condition.
    var isEmpty: Bool { conditions.isEmpty }

    /// The condition of a test; nil where it has none.
    subscript(test: Int) -> IndexCondition? {
        for at in conditions.indices where conditions[at].test == test { return conditions[at].condition }
        return nil
    }

    /// Returns the first test with a condition on a key that `isIncluded` accepts.
    @inline(__always)
    private func first(_ key: IndexKey, where isIncluded: (IndexCondition) -> Bool = { _ in true }) -> Int? {
        for (test, condition) in conditions where condition.key == key && isIncluded(condition) { return test }
        return nil
    }

    func isNamed(_ key: IndexKey) -> Bool { first(key) != nil }

    /// Returns the test that fixes a key to one value.
    func exactValue(of key: IndexKey) -> Int? { first(key) { $0.isExact && $0.components?.count == 1 } }

    /// Returns the test with the shortest list of values for a key.
    func shortestList(_ key: IndexKey) -> Int? {
        var best: (test: Int, count: Int)?
        for known in conditions where known.condition.key == key {
            guard let count = known.condition.components?.count, count < best?.count ?? .max else { continue }
            best = (known.test, count)
        }
        return best?.test
    }

    /// Returns the range of a key's components that meets the tests, and the tests it was made from.
    func range(_ key: IndexKey) -> (range: ComponentRange, used: [Int])? {
        // A prefix and a range's ends cannot be intersected here. Only the prefix is used; the other conditions are tested on each row.
        if let test = first(key, where: \.isPrefix), let range = self[test]?.range { return (range, [test]) }
        var result = ComponentRange()
        var used: [Int] = []
        for known in conditions where known.condition.key == key {
            guard let range = known.condition.range else { continue }
            result.narrow(to: range)
            used.append(known.test)
        }
        return used.isEmpty ? nil : (result, used)
    }
}

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

    /// Returns the condition with the shortest list of values for a key.
    /// - Returns: also whether another one may be the shortest with other arguments.
    func shortestList(_ key: IndexKey) -> (test: Int, condition: IndexCondition, isOnly: Bool)? {
        var best: (test: Int, condition: IndexCondition, isOnly: Bool)?, least = Int.max, found = 0
        for (test, condition) in conditions where condition.key == key {
            guard let count = condition.components?.count else { continue }
            found += 1
            if count < least { (best, least) = ((test, condition, true), count) }
        }
        best?.isOnly = found == 1
        return best
    }

    /// Returns the conditions that are no values, and that a range of the key can therefore meet together.
    func bounds(_ key: IndexKey) -> [(test: Int, condition: IndexCondition)] {
        conditions.filter { $0.condition.key == key && $0.condition.components == nil }
    }
}

import Foundation
import RecordLog

/// Compiles a predicate to tests on the rows of one table.
///
/// If the compiler returns nil, the context evaluates the whole predicate on objects.
package struct PredicateCompiler {
    let table: EntityTable
    /// nil where the rows are in no record log, or a test may read only the row's own columns.
    let view: RecordLogView?
    /// The rows at the other ends of relationships, where there is no view; nil where a test may read only the row's own columns.
    let related: RelatedRows?
    /// The store's slot base, where there is neither; nil where rows have no references.
    var slotBase: UInt64?

    package init(table: EntityTable, view: RecordLogView?, related: RelatedRows? = nil, slotBase: UInt64? = nil) {
        (self.table, self.view, self.related, self.slotBase) = (table, view, related, slotBase)
    }

    /// The tables of the rows at the other ends of relationships; nil where a test may not read them.
    var otherTables: RecordLogSchema? { view?.schema ?? related?.schema }

    /// The compiler for another table of the store; nil where it has none for the entity.
    func other(_ entity: NSEntityDescription) -> PredicateCompiler? {
        otherTables?.tables.lazy.compactMap { $0 }.first { $0.runtime.entity === entity }
            .map { PredicateCompiler(table: $0, view: view, related: related) }
    }

    /// Makes the row reference of an object's key; nil where rows have no references.
    private var referenceBase: UInt64? { view?.slotBase ?? related?.slotBase ?? slotBase }

    private var runtime: EntityRuntime { table.runtime }

    package func compile(_ node: PredicateNode) -> RowFilter? {
        let test = test(node)
        // A simplified compound keeps the format of the part that is left, which says more.
        if table.hasPartialIndexes, test?.format == nil { test?.format = PredicatePrinter.format(node) }
        return test
    }

    private func test(_ node: PredicateNode) -> RowFilter? {
        switch node {
        case .constant(let value): return ConstantFilter(value)
        case .and(let parts): return compile(parts, decisive: false, AllFilter.init)
        case .or(let parts): return compile(parts, decisive: true, AnyFilter.init)
        case .not(let part):
            guard let test = compile(part) else { return nil }
            return (test as? ConstantFilter).map { ConstantFilter(!$0.value) } ?? NotFilter(test)
        case .comparison(let comparison): return compile(comparison)
        case .words(let condition): return words(condition)
        case .block, .fault: return nil
        }
    }

    /// An attribute that other entities of the family have is null here.
    private func words(_ condition: WordCondition) -> RowFilter? {
        var properties: [Int] = []
        for attribute in condition.attributes {
            guard case .keyPath(let keys) = attribute, keys.count == 1 else { return nil }
            guard let index = runtime.index(of: keys[0]) else {
                guard runtime.entity.isKnownInFamily(keys[0]) else { return nil }
                continue
            }
            guard runtime.properties[index].kind == .string, !runtime.properties[index].isTransient else { return nil }
            properties.append(index)
        }
        return condition.query.words.isEmpty ? ConstantFilter(true) : WordFilter(runtime, properties, condition.query)
    }

    /// Joins tests and evaluates constants here, so that a table whose entity cannot match is not read.
    /// - Parameter decisive: the value of a part that decides the whole.
    private func compile(_ parts: [PredicateNode], decisive: Bool, _ joined: ([RowFilter]) -> RowFilter) -> RowFilter? {
        var tests: [RowFilter] = []
        var isCompiled = true
        for part in parts {
            guard let test = compile(part) else {
                isCompiled = false
                continue
            }
            guard let constant = test as? ConstantFilter else {
                tests.append(test)
                continue
            }
            if constant.value == decisive { return constant }
        }
        guard isCompiled else { return nil }
        return tests.isEmpty ? ConstantFilter(!decisive) : tests.count == 1 ? tests[0] : joined(tests)
    }

    // MARK: Comparisons

    private func compile(_ comparison: PredicateNode.Comparison) -> RowFilter? {
        // A condition on the class is the same for all rows of a table.
        if case .conditional(let condition, let first, let second) = comparison.left, let known = compile(condition) as? ConstantFilter {
            var chosen = comparison
            chosen.left = known.value ? first : second
            return compile(chosen)
        }
        switch (comparison.left, comparison.right) {
        case (.keyPath(let keys), .constant(let value)): return compile(keys[...], comparison, value)
        case (.keyPath(let keys), .aggregate(let list)):
            guard let values = list.constants else { return expressions(comparison) }
            return compile(keys[...], comparison, .collection(values))
        case (.constant(let value), .keyPath(let keys)):
            // 5 < age becomes age > 5. "x" IN name is evaluated in memory.
            guard comparison.modifier == .direct, let mirrored = comparison.comparison.mirrored else { return expressions(comparison) }
            var exchanged = comparison
            exchanged.comparison = mirrored
            return compile(keys[...], exchanged, value)
        case (.constant, .constant): return (try? PredicateNode.comparison(comparison).evaluate(nil)).map(ConstantFilter.init)
        case (.path(.subquery(.keyPath(let keys), let variable, let predicate), ["@count"]), .constant(let count)):
            return memberCount(keys, variable, predicate, comparison, count)
        default: return expressions(comparison)
        }
    }

    /// Returns the value of a key path that is the same for all rows, because it starts with no property of the table.
    /// - Returns: nil where it depends on the row.
    func constant(_ keys: ArraySlice<String>) -> PredicateValue? {
        guard let key = keys.first else { return nil }
        // A property of another entity in the family is null here.
        let isNull = runtime.entity.isKnownInFamily(key)
        guard isNull || key == "entity" else { return nil }
        return PredicateKeyPath.value(keys.dropFirst(), of: isNull ? nil : runtime.entity)
    }

    private func compile(_ keys: ArraySlice<String>, _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard let key = keys.first else {
            return comparison.modifier == .direct ? identity(comparison, value) : nil
        }
        guard let index = runtime.index(of: key) else {
            guard let known = constant(keys) else {
                return key == "objectID" && keys.count == 1 ? compile([], comparison, value) : nil
            }
            return (try? PredicateNode.comparison(comparison.with(left: .constant(known), value)).evaluate(nil)).map(ConstantFilter.init)
        }
        let property = runtime.properties[index]
        guard !property.isTransient else { return nil }
        let rest = keys.dropFirst()
        guard !Self.isTooWide(keys, from: runtime.entity) else { return nil }
        switch property.kind {
        case .toOne where Self.isObject(rest):
            guard comparison.modifier == .direct else { return nil }
            return reference(index, comparison, value)
        case .toOne: return throughToOne(index, rest, comparison, value)
        case .toMany: return throughToMany(index, rest, comparison, value)
        default:
            guard rest.isEmpty, comparison.modifier == .direct else { return nil }
            if let elements = property.elements { return composite(elements, comparison, value) }
            return column(index, property.kind, comparison, value)
        }
    }

    // MARK: Relationships

    /// Whether a path ends at the object itself, or at its ID.
    private static func isObject(_ keys: ArraySlice<String>) -> Bool { keys.isEmpty || keys.elementsEqual(["objectID"]) }

    /// Whether a path leads through so many tables (the product of the family sizes along it) that evaluation in memory is better.
    static func isTooWide(_ keys: ArraySlice<String>, from entity: NSEntityDescription) -> Bool {
        guard keys.count > 2 else { return false }
        var owners = [entity], count = 1
        for key in keys {
            owners = owners.destinations(of: key)
            if owners.isEmpty { break }
            count *= owners.reduce(0) { $0 + $1.concreteFamily.count }
            if count > tablesMax { return true }
        }
        return false
    }

    private static let tablesMax = 1000

    private func throughToOne(
        _ index: Int, _ rest: ArraySlice<String>, _ comparison: PredicateNode.Comparison, _ value: PredicateValue
    ) -> RowFilter? {
        guard let destinations = destinations(of: index, { $0.compile(rest, comparison, value) }),
            let whenNull = Self.whenNull(comparison, value)
        else { return nil }
        return ToOneFilter(runtime, index, destinations, whenNull: whenNull)
    }

    /// Whether the comparison holds for null.
    static func whenNull(_ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> Bool? {
        try? PredicateNode.comparison(comparison.with(left: .constant(.null), value)).evaluate(nil)
    }

    /// The rest of a path's condition, for each entity that the relationship's objects may have.
    /// - Parameter compile: compiles it for one entity's table.
    func destinations(of index: Int, _ compile: (PredicateCompiler) -> RowFilter?) -> DestinationFilters? {
        guard let destination = runtime.properties[index].destination else { return nil }
        var tests = DestinationFilters()
        for entity in destination.concreteFamily {
            guard let other = other(entity), let test = compile(other) else { return nil }
            tests.set(test, for: other.table.id)
        }
        return tests
    }

    private func throughToMany(
        _ index: Int, _ rest: ArraySlice<String>, _ comparison: PredicateNode.Comparison, _ value: PredicateValue
    ) -> RowFilter? {
        guard otherTables != nil, let source = source(index) else { return nil }
        if rest.count == 1, rest.first == "@count" {
            guard comparison.modifier == .direct, let found = comparison.comparison.order, case .integer(let count) = value else { return nil }
            return MemberCountFilter(source, found, count)
        }
        // A further collection in the path has the same ANY or ALL.
        var inner = comparison
        guard let isNested = isThroughToMany(rest, from: index) else { return nil }
        if !isNested { inner.modifier = .direct }
        switch comparison.modifier {
        case .direct:
            // depends CONTAINS package
            guard Self.isObject(rest), comparison.comparison == .contains, let rows = rows(value) else { return nil }
            return AnyMemberIdentityFilter(source, rows)
        case .any:
            if Self.isObject(rest) {
                switch comparison.comparison {
                case .equal: return rows(value).map { AnyMemberIdentityFilter(source, $0) }
                case .isIn: return rows(among: value).map { AnyMemberIdentityFilter(source, $0) }
                default: return nil
                }
            }
            return destinations(of: index) { $0.compile(rest, inner, value) }.map { AnyMemberFilter(source, $0) }
        case .all:
            guard !Self.isObject(rest), let tests = destinations(of: index, { $0.compile(rest, inner, value).map(NotFilter.init) }) else { return nil }
            return NotFilter(AnyMemberFilter(source, tests))
        }
    }

    /// Returns the sources of a to-many relationship's members.
    func source(_ index: Int) -> MemberSources? {
        guard let members = table.members[index] else { return nil }
        let inverse: Int? = if case .link = members { nil } else { runtime.properties[index].inverse }
        return MemberSources(members: members, inverse: inverse, owner: runtime, property: index)
    }

    /// Whether a path continues through collections; nil where a collection comes after a to-one relationship. If that is null, the row has no
    /// member to test.
    private func isThroughToMany(_ rest: ArraySlice<String>, from index: Int) -> Bool? {
        let destination = runtime.properties[index].destination
        // The common case.
        if rest.count == 1, let key = rest.first, destination?.keptProperty(key) is NSAttributeDescription { return false }
        var owners = destination.map { [$0] } ?? []
        var isBehindToOne = false
        for key in rest where !key.hasPrefix("@") {
            let relationships = owners.flatMap { $0.familyProperties(key) }.compactMap { $0 as? NSRelationshipDescription }
            guard !relationships.isEmpty else { return false }
            if relationships.contains(where: \.isToMany) {
                // Sibling entities may use one name for a to-one and a to-many relationship.
                guard !isBehindToOne, relationships.allSatisfy(\.isToMany) else { return nil }
                return rest.last?.hasPrefix("@") != true
            }
            isBehindToOne = true
            owners = owners.destinations(of: key)
        }
        return false
    }

    /// Returns the rows of an object in this store; none where it belongs to another store or was never saved.
    /// - Returns: nil where the value is not an object.
    private func rows(_ value: PredicateValue) -> Set<RowReference>? {
        value.members == nil ? rows(among: .collection([value])) : nil
    }

    /// Returns the rows of all objects in a list, as `rows(_:)` does for one.
    private func rows(among value: PredicateValue) -> Set<RowReference>? {
        guard let base = referenceBase, let members = value.members, let store = runtime.holder else { return nil }
        var result: Set<RowReference> = []
        for member in members {
            switch member {
            case .object(let object): if let key = object.key(in: store) { result.insert(RowReference(rawValue: key.rawValue &- base)) }
            case .objectID(let id): if let key = id.key(in: store) { result.insert(RowReference(rawValue: key.rawValue &- base)) }
            default: return nil
            }
        }
        return result
    }

    func reference(_ index: Int, _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        if value.isNull, comparison.comparison == .equal || comparison.comparison == .notEqual {
            return NullFilter(runtime, index, isNull: comparison.comparison == .equal)
        }
        switch comparison.comparison {
        case .equal: return rows(value).map { ReferenceFilter(runtime, index, $0) }
        case .notEqual: return rows(value).map { ReferenceFilter(runtime, index, $0, isNegated: true) }
        case .isIn: return rows(among: value).map { ReferenceFilter(runtime, index, $0) }
        default: return nil
        }
    }

    private func identity(_ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        switch comparison.comparison {
        case .equal: return rows(value).map { IdentityFilter($0, isNegated: false) }
        case .notEqual: return rows(value).map { IdentityFilter($0, isNegated: true) }
        case .isIn: return rows(among: value).map { IdentityFilter($0, isNegated: false) }
        default: return nil
        }
    }
}

extension PredicateNode.Comparison {
    fileprivate func with(left: ExpressionNode, _ value: PredicateValue) -> PredicateNode.Comparison {
        PredicateNode.Comparison(left: left, comparison: comparison, right: .constant(value), modifier: modifier, options: options)
    }
}

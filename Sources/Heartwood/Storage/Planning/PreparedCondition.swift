import RecordLog

/// A comparison of a column with an argument of a format, for which a plan is kept.
///
/// It takes only values of the column's own type. Other values, null and NaN among them, change what the comparison means for the index, so
/// the fetch is planned anew.
struct PreparedCondition {
    let property: Int
    let kind: PropertyKind
    let comparison: PredicateNode.Operator
    let options: PredicateNode.Options
    /// The argument's index; nil for `constant`.
    private let argument: Int?
    /// See `FormatTemplate.Condition`.
    private let element: Int?
    private let constant: PredicateValue

    /// - Returns: nil where the compiler would make more of the comparison than a test of one column.
    init?(_ condition: FormatTemplate.Condition, _ property: Int, _ runtime: EntityRuntime) {
        let found = runtime.properties[property]
        guard !found.isTransient, found.elements == nil else { return nil }
        comparison = condition.comparison.comparison
        options = condition.comparison.options
        switch (found.kind, comparison) {
        case (_, .between), (_, .matches): return nil
        // With options each text of a list is a test of its own.
        case (.string, .isIn) where !options.isEmpty: return nil
        case (.string, _), (.int16, _), (.int32, _), (.int64, _), (.float, _), (.double, _), (.date, _): break
        case (.bool, .equal), (.uuid, .equal), (.uuid, .isIn), (.toOne, .equal), (.toOne, .isIn): break
        default: return nil
        }
        self.property = property
        kind = found.kind
        (argument, element) = (condition.argument, condition.element)
        if case .constant(let value) = condition.comparison.right, argument == nil { constant = value } else { constant = .null }
    }

    /// Whether it is a comparison with the format's own `nil`, which is tested on each row.
    private var isNullTest: Bool { argument == nil && constant.isNull && (comparison == .equal || comparison == .notEqual) }
    private var mayBind: Bool { options.isEmpty && !isNullTest }
    /// Whether it binds an index part to one value.
    var isEquality: Bool { comparison == .equal && mayBind }
    /// Whether it bounds an index part.
    var isLowerBound: Bool { (comparison == .greater || comparison == .greaterOrEqual) && mayBind }
    var isUpperBound: Bool { (comparison == .less || comparison == .lessOrEqual) && mayBind }
    /// Whether a bound excludes its value.
    var isOpen: Bool { comparison == .greater || comparison == .less }
    var isPrefix: Bool { comparison == .beginsWith && mayBind }
    /// Whether the value is the format's own, so that it never changes.
    var isConstant: Bool { argument == nil }

    /// Whether it binds an index part to each of several values.
    var isList: Bool { comparison == .isIn && mayBind }

    /// Longer lists are left to the planner, which weighs them against a scan.
    private static let listMax = 256

    private func value(_ tree: PredicateTree) -> PredicateValue {
        let value = argument.map(tree.value) ?? constant
        guard let element else { return value }
        // A pair of ends; of another list neither end is a value.
        return value.members.flatMap { $0.count == 2 ? $0[element] : nil } ?? .null
    }

    /// The values of a list.
    func members(_ tree: PredicateTree) -> [PredicateValue] { value(tree).members ?? [] }

    /// Appends the value as the index has it, of a prefix the start of such values.
    /// - Returns: false for a value of another type.
    func append(to key: KeyBuilder, descending: Bool, _ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView) -> Bool {
        append(value(tree), to: key, descending: descending, runtime, view)
    }

    /// Appends one value of a list.
    func append(_ value: PredicateValue, to key: KeyBuilder, descending: Bool, _ runtime: EntityRuntime, _ view: RecordLogView) -> Bool {
        switch (kind, value) {
        case (.string, .text(let text)):
            if isPrefix { key.append(textPrefix: text, descending: descending) } else { key.append(text: text, descending: descending) }
        case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)):
            key.append(int64: number, descending: descending)
        case (.float, .double(let number)), (.double, .double(let number)), (.date, .date(let number)):
            guard !number.isNaN else { return false }
            key.append(double: number, descending: descending)
        case (.bool, .bool(let flag)): key.append(bool: flag, descending: descending)
        case (.uuid, .uuid(let uuid)): key.append(uuid: uuid.storedBytes, descending: descending)
        case (.toOne, let value):
            guard let reference = Self.reference(value, runtime, view) else { return false }
            key.append(reference: reference, descending: descending)
        default: return false
        }
        return true
    }

    /// Appends the start of every value, or the least value for which an order comparison can hold; see `ScalarFilter`.
    func appendLeast(to key: KeyBuilder, descending: Bool) {
        switch kind {
        case .float, .double, .date: key.append(double: -.infinity, descending: descending)
        default: key.append(textPrefix: "", descending: descending)
        }
    }

    /// Returns the row of an object that this store has.
    private static func reference(_ value: PredicateValue, _ runtime: EntityRuntime, _ view: RecordLogView) -> RowReference? {
        guard let store = runtime.holder else { return nil }
        switch value {
        case .object(let object): return object.key(in: store).map(view.reference)
        case .objectID(let id): return id.key(in: store).map(view.reference)
        default: return nil
        }
    }

    /// Whether the value is of the column's own type, or each value of a list.
    func takes(_ tree: PredicateTree) -> Bool {
        guard comparison == .isIn else { return takes(value(tree)) }
        guard let members = value(tree).members, !members.isEmpty, members.count <= Self.listMax else { return false }
        return members.allSatisfy(takes)
    }

    private func takes(_ value: PredicateValue) -> Bool {
        switch (kind, value) {
        case (.string, .text), (.int16, .integer), (.int32, .integer), (.int64, .integer), (.bool, .bool), (.uuid, .uuid): true
        case (.float, .double(let number)), (.double, .double(let number)), (.date, .date(let number)): !number.isNaN
        case (.toOne, .object), (.toOne, .objectID): true
        default: isNullTest
        }
    }

    /// Compiles the comparison with its value.
    /// - Returns: nil for a value of another type.
    func filter(_ table: EntityTable, _ view: RecordLogView, _ tree: PredicateTree) -> RowFilter? {
        guard takes(tree) else { return nil }
        let value = value(tree)
        let compiler = PredicateCompiler(table: table, view: view)
        let made = PredicateNode.Comparison(left: .keyPath([]), comparison: comparison, right: .constant(value), options: options)
        return kind == .toOne ? compiler.reference(property, made, value) : compiler.column(property, kind, made, value)
    }
}

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
    private let constant: PredicateValue

    /// - Returns: nil where the compiler would make more of the comparison than a test of one column.
    init?(_ condition: FormatTemplate.Condition, _ property: Int, _ runtime: EntityRuntime) {
        let found = runtime.properties[property]
        guard !found.isTransient, found.elements == nil else { return nil }
        comparison = condition.comparison.comparison
        options = condition.comparison.options
        switch (found.kind, comparison) {
        case (_, .between), (_, .isIn), (_, .matches): return nil
        case (.string, _), (.int16, _), (.int32, _), (.int64, _), (.float, _), (.double, _), (.date, _): break
        case (.bool, .equal), (.uuid, .equal), (.toOne, .equal): break
        default: return nil
        }
        self.property = property
        kind = found.kind
        argument = condition.argument
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
    var isPrefix: Bool { comparison == .beginsWith && mayBind }
    /// Whether the value is the format's own, so that it never changes.
    var isConstant: Bool { argument == nil }

    private func value(_ tree: PredicateTree) -> PredicateValue { argument.map(tree.value) ?? constant }

    /// Appends the value as the index has it, of a prefix the start of such values.
    /// - Returns: false for a value of another type.
    func append(to key: KeyBuilder, _ tree: PredicateTree, _ runtime: EntityRuntime, _ view: RecordLogView) -> Bool {
        switch (kind, value(tree)) {
        case (.string, .text(let text)): if isPrefix { key.append(textPrefix: text) } else { key.append(text: text) }
        case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)): key.append(int64: number)
        case (.float, .double(let number)), (.double, .double(let number)), (.date, .date(let number)):
            guard !number.isNaN else { return false }
            key.append(double: number)
        case (.bool, .bool(let flag)): key.append(bool: flag)
        case (.uuid, .uuid(let uuid)): key.append(uuid: uuid.storedBytes)
        case (.toOne, let value):
            guard let reference = Self.reference(value, runtime, view) else { return false }
            key.append(reference: reference)
        default: return false
        }
        return true
    }

    /// Appends the start of every value, or the least value for which an order comparison can hold; see `ScalarFilter`.
    func appendLeast(to key: KeyBuilder) {
        switch kind {
        case .float, .double, .date: key.append(double: -.infinity)
        default: key.append(textPrefix: "")
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

    /// Whether the value is of the column's own type.
    func takes(_ tree: PredicateTree) -> Bool {
        switch (kind, value(tree)) {
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

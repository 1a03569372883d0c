import RecordLog

/// The place of a format's argument in a comparison with a column. A plan with parameters serves every value of the column's own type.
///
/// Other values, null and NaN among them, change what the comparison means for an index, so a fetch with them has a plan of its own.
struct Parameter {
    let property: Int
    let kind: PropertyKind
    let comparison: PredicateNode.Operator
    let options: PredicateNode.Options
    private let argument: Int
    /// See `FormatTemplate.Condition`.
    private let element: Int?

    /// - Returns: nil where the comparison is more than a test of one column with an argument.
    init?(_ condition: FormatTemplate.Condition, _ property: Int, _ runtime: EntityRuntime) {
        let found = runtime.properties[property]
        guard let argument = condition.argument, !found.isTransient, found.elements == nil else { return nil }
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
        (self.property, self.argument, element) = (property, argument, condition.element)
        kind = found.kind
    }

    /// Whether an index can answer the comparison.
    private var hasIndexOrder: Bool { kind != .string || options.effective.isEmpty }
    /// Whether the values are those of a list.
    var isList: Bool { comparison == .isIn }

    // MARK: Values

    /// A longer list has a plan of its own, which weighs it against a scan.
    private static let listMax = 256

    func value(_ arguments: PredicateTree) -> PredicateValue { arguments.value(argument, element) }

    /// The values of a list.
    func members(_ arguments: PredicateTree) -> [PredicateValue] { value(arguments).members ?? [] }

    /// Whether the value is of the column's own type, or each value of a list.
    func takes(_ arguments: PredicateTree) -> Bool {
        guard isList else { return takes(value(arguments)) }
        guard let members = value(arguments).members, !members.isEmpty, members.count <= Self.listMax else { return false }
        return members.allSatisfy(takes)
    }

    private func takes(_ value: PredicateValue) -> Bool {
        switch (kind, value) {
        case (.string, .text), (.int16, .integer), (.int32, .integer), (.int64, .integer), (.bool, .bool), (.uuid, .uuid): true
        case (.float, .double(let number)), (.double, .double(let number)), (.date, .date(let number)): !number.isNaN
        case (.toOne, .object), (.toOne, .objectID): true
        default: false
        }
    }

    /// Whether a list has one value only, which makes it an equality.
    func isOneValue(_ binding: PlanBinding) -> Bool {
        let members = members(binding.arguments)
        guard members.count > 1 else { return members.count == 1 }
        let first = component(members[0], binding)
        return members.dropFirst().allSatisfy { component($0, binding) == first }
    }

    // MARK: Keys

    /// Appends the value as an index has it, of a prefix the start of such values.
    /// - Returns: false for a value of another type.
    func append(to key: KeyBuilder, descending: Bool, _ binding: PlanBinding) -> Bool {
        append(value(binding.arguments), to: key, descending: descending, binding)
    }

    /// Appends one value of a list.
    func append(_ value: PredicateValue, to key: KeyBuilder, descending: Bool, _ binding: PlanBinding) -> Bool {
        switch (kind, value) {
        case (.string, .text(let text)):
            if comparison == .beginsWith {
                key.append(textPrefix: text, descending: descending)
            } else {
                key.append(text: text, descending: descending)
            }
        case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)):
            key.append(int64: number, descending: descending)
        case (.float, .double(let number)), (.double, .double(let number)), (.date, .date(let number)):
            guard !number.isNaN else { return false }
            key.append(double: number, descending: descending)
        case (.bool, .bool(let flag)): key.append(bool: flag, descending: descending)
        case (.uuid, .uuid(let uuid)): key.append(uuid: uuid.storedBytes, descending: descending)
        case (.toOne, let value):
            guard let reference = Self.reference(value, binding) else { return false }
            key.append(reference: reference, descending: descending)
        default: return false
        }
        return true
    }

    /// Returns a value as an ascending part of an index has it; nil for a value of another type.
    private func component(_ value: PredicateValue, _ binding: PlanBinding) -> [UInt8]? {
        let key = binding.scope.key
        key.removeAll()
        return append(value, to: key, descending: false, binding) ? key.bytes : nil
    }

    /// Returns the row of an object that this store has.
    private static func reference(_ value: PredicateValue, _ binding: PlanBinding) -> RowReference? {
        guard let store = binding.table.runtime.holder else { return nil }
        switch value {
        case .object(let object): return object.key(in: store).map(binding.view.reference)
        case .objectID(let id): return id.key(in: store).map(binding.view.reference)
        default: return nil
        }
    }

    /// The least value of the column for which an order comparison can hold; nil where every value comes into question.
    var least: [UInt8]? {
        switch kind {
        case .float, .double, .date: IndexCondition.leastDouble
        default: nil
        }
    }

    /// The condition on an index that the comparison is with these arguments.
    /// - Returns: nil where no index can answer it; `isOther` where a value has no key, so that the arguments are not those of a plan with parameters.
    func condition(_ binding: PlanBinding) -> (condition: IndexCondition?, isOther: Bool) {
        guard hasIndexOrder else { return (nil, false) }
        let kind: IndexCondition.Kind
        switch comparison {
        case .isIn:
            var components: [[UInt8]] = []
            for member in members(binding.arguments) {
                guard let component = component(member, binding) else { return (nil, true) }
                if !components.contains(component) { components.append(component) }
            }
            kind = .equal(components)
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith:
            guard let component = component(value(binding.arguments), binding) else { return (nil, true) }
            guard let found = comparison.order else {
                kind = .prefix(component)
                break
            }
            guard let made = IndexCondition.Kind(found, component, least: least) else { return (nil, false) }
            kind = made
        default: return (nil, false)
        }
        return (IndexCondition(.property(property), kind: kind, operand: .argument(self)), false)
    }

    // MARK: Filters

    /// The comparison with its value in the format language; nil for a part of BETWEEN.
    func format(_ condition: FormatTemplate.Condition, _ arguments: PredicateTree) -> String? {
        guard element == nil else { return nil }
        return PredicatePrinter.format(.comparison(condition.comparison.with(right: .constant(value(arguments)))))
    }

    /// Compiles the comparison with its value.
    /// - Returns: nil for a value of another type.
    func filter(_ binding: PlanBinding) -> RowFilter? {
        guard takes(binding.arguments) else { return nil }
        let value = value(binding.arguments)
        let compiler = PredicateCompiler(table: binding.table, view: binding.view)
        let made = PredicateNode.Comparison(left: .keyPath([]), comparison: comparison, right: .constant(value), options: options)
        return kind == .toOne ? compiler.reference(property, made, value) : compiler.column(property, kind, made, value)
    }
}

/// The arguments of one fetch, to which a plan with parameters is bound, with the table and the view that it reads.
struct PlanBinding {
    let arguments: PredicateTree
    let table: EntityTable
    let view: RecordLogView
    /// Its key is a buffer while a plan is bound.
    let scope: QueryScope
}

import RecordLog

/// Comparisons of an expression that has an index.
extension PredicateCompiler {
    /// Returns the index condition of an indexed expression's comparison with a constant. Keys contain numbers rounded to doubles, and null for
    /// values of other kinds, so the index may give more rows than match, never fewer.
    /// - Returns: nil where no index is over the expression, or it does not support the comparison.
    func indexedExpression(_ comparison: PredicateNode.Comparison) -> IndexCondition? {
        if comparison.left.constant == nil, let value = comparison.right.constant {
            return indexedExpression(comparison.left, comparison, comparison.comparison, value)
        }
        guard comparison.right.constant == nil, let value = comparison.left.constant,
            let mirrored = comparison.comparison.mirrored
        else { return nil }
        return indexedExpression(comparison.right, comparison, mirrored, value)
    }

    private func indexedExpression(
        _ node: ExpressionNode, _ comparison: PredicateNode.Comparison, _ operation: PredicateNode.Operator, _ value: PredicateValue
    ) -> IndexCondition? {
        guard comparison.options.effective.isEmpty, !value.isNull else { return nil }
        let format = ExactText(PredicatePrinter.format(node))
        let keys = Set(table.indexes.flatMap { $0.parts.map(\.key) })
        let isText: Bool
        switch value {
        case .text: isText = true
        case .collection(let members):
            guard let first = members.first else { return nil }
            if case .text = first { isText = true } else { isText = false }
        default: isText = false
        }
        let key = IndexKey.expression(format, isText: isText)
        guard keys.contains(key) else { return nil }
        func component(_ value: PredicateValue) -> [UInt8]? {
            let builder = KeyBuilder()
            builder.append(value, isText: isText)
            return builder.unsafeBuffer.first == KeyBuilder.valueTag ? builder.bytes : nil
        }
        if !isText, value.mayBeDecimal || mayBeDecimal(node) {
            if let number = PredicateNumber(value) { return near(number.double, operation, key) }
            if value.members != nil { return nil }
        }
        switch operation {
        case .equal: return component(value).map { IndexCondition(key, kind: .equal([$0]), isExact: false) }
        case .isIn:
            guard let members = value.members else { return nil }
            let components = members.compactMap(component)
            guard components.count == members.count else { return nil }
            return IndexCondition(key, kind: .equal(Array(Set(components))), isExact: false)
        case .less, .lessOrEqual:
            return component(value).map {
                IndexCondition(key, kind: .range(lower: nil, lowerIsOpen: false, upper: $0, upperIsOpen: false), isExact: false)
            }
        case .greater, .greaterOrEqual:
            return component(value).map {
                IndexCondition(key, kind: .range(lower: $0, lowerIsOpen: false, upper: nil, upperIsOpen: false), isExact: false)
            }
        case .beginsWith:
            guard isText, case .text(let prefix) = value else { return nil }
            let builder = KeyBuilder()
            builder.append(textPrefix: prefix)
            return IndexCondition(key, kind: .prefix(builder.bytes), isExact: false)
        default: return nil
        }
    }
    /// A range around a number. A decimal loses its last digits in the conversion to the key's double, so all numbers within a margin may be equal.
    private func near(_ number: Double, _ operation: PredicateNode.Operator, _ key: IndexKey) -> IndexCondition? {
        func component(_ number: Double) -> [UInt8] {
            let builder = KeyBuilder()
            builder.append(double: number)
            return builder.bytes
        }
        guard number.isFinite else { return nil }
        let margin = abs(number) * 1e-12 + 1e-120
        let lower = component(number - margin), upper = component(number + margin)
        let (hasLower, hasUpper): (Bool, Bool)
        switch operation {
        case .equal: (hasLower, hasUpper) = (true, true)
        case .less, .lessOrEqual: (hasLower, hasUpper) = (false, true)
        case .greater, .greaterOrEqual: (hasLower, hasUpper) = (true, false)
        default: return nil
        }
        let kind = IndexCondition.Kind.range(
            lower: hasLower ? lower : nil, lowerIsOpen: false, upper: hasUpper ? upper : nil, upperIsOpen: false)
        return IndexCondition(key, kind: kind, isExact: false)
    }

    /// Whether the expression can give decimals.
    private func mayBeDecimal(_ node: ExpressionNode) -> Bool {
        switch node {
        case .constant(let value): value.mayBeDecimal
        case .keyPath(let keys):
            keys.count == 1 ? table.runtime.index(of: keys[0]).map { table.runtime.properties[$0].kind == .decimal } ?? true : true
        case .call(.cast, _): true
        case .call(_, let list), .aggregate(let list): list.contains(where: mayBeDecimal)
        case .conditional(_, let first, let second): mayBeDecimal(first) || mayBeDecimal(second)
        default: true
        }
    }
}

extension PredicateValue {
    fileprivate var mayBeDecimal: Bool {
        switch self {
        case .decimal: true
        case .collection(let members): members.contains(where: \.mayBeDecimal)
        default: false
        }
    }
}

import Foundation
import RecordLog

/// Compiles comparisons of an attribute with a constant.
extension PredicateCompiler {
    func column(_ index: Int, _ kind: PropertyKind, _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        let runtime = table.runtime
        if value.isNull {
            switch comparison.comparison {
            case .equal: return NullFilter(runtime, index, isNull: true)
            case .notEqual: return NullFilter(runtime, index, isNull: false)
            default: return ConstantFilter(false)
            }
        }
        // In every type of column, NaN equals no value, and no value is less or greater.
        if value.isNotANumber, let found = comparison.comparison.order { return ConstantFilter(found == .notEqual) }
        switch comparison.comparison {
        case .between:
            guard let range = value.members, range.count == 2,
                let low = column(index, kind, comparison.with(.greaterOrEqual), range[0]),
                let high = column(index, kind, comparison.with(.lessOrEqual), range[1])
            else { return nil }
            return AllFilter([low, high])
        case .isIn: return membership(index, kind, comparison, value)
        default: break
        }
        switch kind {
        case .string: return text(index, comparison, value)
        case .bool, .int16, .int32, .int64: return integer(index, comparison, value)
        case .float, .double, .date: return double(index, kind, comparison, value)
        case .decimal:
            guard let found = comparison.comparison.order, let constant = Self.decimal(value) else { return nil }
            return DecimalFilter(runtime, index, found, StoredDecimal(constant))
        case .uuid:
            guard case .uuid(let uuid) = value, let found = comparison.comparison.order, found == .equal || found == .notEqual else {
                return nil
            }
            return UUIDFilter(runtime, index, uuid.storedBytes, isNegated: found == .notEqual)
        case .data:
            guard case .data(let data) = value, let found = comparison.comparison.order, found == .equal || found == .notEqual else {
                return nil
            }
            return BytesFilter(runtime, index, data, isNegated: found == .notEqual)
        case .externalData:
            guard view != nil, case .data(let data) = value, let found = comparison.comparison.order, found == .equal || found == .notEqual else {
                return nil
            }
            return ExternalDataFilter(runtime, index, [data], isNegated: found == .notEqual)
        case .uri: return value.comparedText.flatMap { text(index, comparison, .text($0)) }
        case .transformable, .objectID, .undefined, .toOne, .toMany: return nil
        }
    }

    private static func decimal(_ value: PredicateValue) -> Decimal? {
        switch value {
        case .decimal(let value): value
        case .integer(let value): Decimal(value)
        case .double(let value): Decimal(finite: value)
        case .bool(let value): value ? 1 : 0
        default: nil
        }
    }

    private func text(_ index: Int, _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard case .text(let pattern) = value,
            let matcher = try? TextMatcher(comparison.comparison, pattern, options: comparison.options)
        else { return nil }
        let runtime = table.runtime
        if comparison.comparison == .notEqual {
            return TextFilter(runtime, index, TextMatcher(kind: .order(.equal), pattern, options: comparison.options), isNegated: true)
        }
        let requirements = table.hasTextIndex(index)
            ? TermRequirements(comparison.comparison, pattern, options: comparison.options) : nil
        guard comparison.options.effective.isEmpty else { return TextFilter(runtime, index, matcher, requirements: requirements) }
        var condition: IndexCondition?
        if let found = comparison.comparison.order {
            let key = KeyBuilder()
            key.append(text: pattern)
            condition = IndexCondition(property: index, found, key.bytes)
        } else if comparison.comparison == .beginsWith {
            let key = KeyBuilder()
            key.append(textPrefix: pattern)
            condition = IndexCondition(property: index, kind: .prefix(key.bytes))
        }
        return TextFilter(runtime, index, matcher, condition: condition, requirements: requirements)
    }

    private func integer(_ index: Int, _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard let found = comparison.comparison.order else { return nil }
        switch value {
        case .integer(let constant): return integer(index, found, constant)
        case .bool(let constant): return integer(index, found, constant ? 1 : 0)
        case .double(let constant):
            let below = constant.rounded(.down)
            return integer(index, found, below: Int64(exactly: below), isWhole: below == constant, isLarge: constant > 0)
        case .decimal(let constant):
            let below = constant.roundedDown
            return integer(index, found, below: Int64("\(below)"), isWhole: below == constant, isLarge: constant > 0)
        default: return nil
        }
    }

    private func integer(_ index: Int, _ found: ComparisonOperator, _ constant: Int64) -> RowFilter {
        // The keys of a Boolean column can only be 0 and 1.
        let isBool = table.runtime.properties[index].kind == .bool
        guard !isBool || constant == 0 || constant == 1 else { return outside(index, found, isLarge: constant > 1) }
        return ScalarFilter(table.runtime, index, found, .integer(constant))
    }

    /// Compares an integer column with a number that may have a fraction, by an equivalent comparison with the nearest integers.
    /// - Parameter below: the greatest integer that is not above the number; nil where it needs more than 64 bits.
    private func integer(_ index: Int, _ found: ComparisonOperator, below: Int64?, isWhole: Bool, isLarge: Bool) -> RowFilter {
        guard let below else { return outside(index, found, isLarge: isLarge) }
        guard !isWhole else { return integer(index, found, below) }
        switch found {
        case .equal: return ConstantFilter(false)
        case .notEqual: return ConstantFilter(true)
        case .less, .lessOrEqual: return integer(index, .lessOrEqual, below)
        case .greater, .greaterOrEqual: return integer(index, .greater, below)
        }
    }

    /// Compares an integer column with a number beyond its range.
    private func outside(_ index: Int, _ found: ComparisonOperator, isLarge: Bool) -> RowFilter {
        switch found {
        case .equal: ConstantFilter(false)
        case .notEqual: ConstantFilter(true)
        case .less, .lessOrEqual: isLarge ? NullFilter(table.runtime, index, isNull: false) : ConstantFilter(false)
        case .greater, .greaterOrEqual: isLarge ? ConstantFilter(false) : NullFilter(table.runtime, index, isNull: false)
        }
    }

    private func double(_ index: Int, _ kind: PropertyKind, _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard let found = comparison.comparison.order else { return nil }
        switch (kind, value) {
        case (.date, .date(let constant)): return ScalarFilter(table.runtime, index, found, .double(constant))
        case (.date, _): return nil
        case (_, .double(let constant)): return ScalarFilter(table.runtime, index, found, .double(constant))
        case (_, .integer(let constant)):
            guard Int64(exactly: Double(constant)) == constant else { return nil }
            return ScalarFilter(table.runtime, index, found, .double(Double(constant)))
        default: return nil
        }
    }

    private static let unionMax = 16

    /// Whether folded texts alone tell which texts are equal.
    private func isHashed(_ comparison: PredicateNode.Comparison) -> Bool {
        !comparison.options.effective.isEmpty && !comparison.options.contains(.localeSensitive)
    }

    private func membership(
        _ index: Int, _ kind: PropertyKind, _ comparison: PredicateNode.Comparison, _ value: PredicateValue
    ) -> RowFilter? {
        guard let members = value.members else { return nil }
        let present = members.filter { !$0.isNull }
        let test: RowFilter?
        // A value that the column cannot hold equals none of its values.
        switch kind {
        case .string where comparison.options.effective.isEmpty:
            let texts = present.compactMap { if case .text(let text) = $0 { text } else { nil } }
            test = texts.count == present.count ? TextSetFilter(table.runtime, index, texts) : nil
        // Through a text index a short list is a union of searches.
        // A long list in a locale.
        case .string where comparison.options.contains(.localeSensitive) && present.count > MemberTable.shortMax,
            .uri where comparison.options.contains(.localeSensitive) && present.count > MemberTable.shortMax:
            return ExpressionFilter(comparison, ColumnExpression(table.runtime, index), ConstantExpression(value), nil)
        case .string where isHashed(comparison) && (present.count > Self.unionMax || !table.hasTextIndex(index)),
            .uri where isHashed(comparison):
            let texts = present.compactMap { kind == .uri ? $0.comparedText : $0.plainText }
            guard texts.count == present.count else { return nil }
            test = FoldedTextSetFilter(table.runtime, index, texts, comparison.options.effective)
        case .uri where comparison.options.effective.isEmpty:
            test = TextSetFilter(table.runtime, index, present.compactMap(\.comparedText))
        case .bool, .int16, .int32, .int64:
            let numbers = present.compactMap(\.exactInteger)
            // A Boolean is never another number, and its index has no key for one.
            test = IntegerSetFilter(table.runtime, index, Set(kind == .bool ? numbers.filter { $0 == 0 || $0 == 1 } : numbers))
        case .float, .double: test = DoubleSetFilter(table.runtime, index, Set(present.flatMap(\.exactDoubles)))
        case .decimal:
            var numbers: [Decimal] = []
            for member in present where !member.isNotANumber {
                // Such a number is beyond the range of decimals.
                if case .double(let value) = member, abs(value) > 1e166 { continue }
                guard let number = Self.decimal(member) else { return nil }
                numbers.append(number)
            }
            test = DecimalSetFilter(table.runtime, index, numbers)
        case .date:
            let dates = present.compactMap { if case .date(let date) = $0, !date.isNaN { date } else { nil } }
            test = DoubleSetFilter(table.runtime, index, Set(dates))
        case .uuid:
            test = UUIDSetFilter(table.runtime, index, Set(present.compactMap { if case .uuid(let uuid) = $0 { uuid } else { nil } }))
        case .data:
            test = BytesSetFilter(table.runtime, index, present.compactMap { if case .data(let data) = $0 { data } else { nil } })
        default:
            var tests: [RowFilter] = []
            for member in present {
                guard let one = column(index, kind, comparison.with(.equal), member) else { return nil }
                tests.append(one)
            }
            test = AnyFilter(tests)
        }
        guard let test else { return nil }
        return present.count == members.count ? test : AnyFilter([test, NullFilter(table.runtime, index, isNull: true)])
    }
}

extension PredicateValue {
    fileprivate var plainText: String? {
        if case .text(let text) = self { return text }
        return nil
    }
}

/// The values of a list that a number column can equal. Fractions for an integer column, numbers out of range, and other types equal none.
extension PredicateValue {
    fileprivate var exactInteger: Int64? {
        switch self {
        case .integer(let value): value
        case .bool(let value): value ? 1 : 0
        case .double(let value): Int64(exactly: value)
        case .decimal(let value): value.isNaN || value.roundedDown != value ? nil : Int64("\(value)")
        default: nil
        }
    }

    /// Returns the doubles that are equal to a decimal by the rules of comparison. The search starts near the decimal because the conversion may be
    /// wrong in its last digits, in more of them the further the number is from 1.
    private static func doubles(equalTo decimal: PredicateValue, near start: Double) -> [Double] {
        func order(_ double: Double) -> ComparisonResult? { PredicateValue.double(double).ordered(decimal) }
        var double = start
        for _ in 0..<1000 {
            guard let found = order(double), found != .orderedSame else { break }
            let next = found == .orderedAscending ? double.nextUp : double.nextDown
            // The decimal is between two neighbouring doubles.
            if order(next) != .orderedSame, order(next) != found { return [] }
            double = next
        }
        guard order(double) == .orderedSame else { return [] }
        var result = [double]
        for neighbour in [\Double.nextUp, \Double.nextDown] {
            var next = double[keyPath: neighbour]
            while result.count < 1000, order(next) == .orderedSame {
                result.append(next)
                next = next[keyPath: neighbour]
            }
        }
        return result
    }

    /// At most one double, except for a decimal, which may be equal to several.
    fileprivate var exactDoubles: [Double] {
        switch self {
        case .double(let value): return value.isNaN ? [] : [value]
        case .decimal(let value):
            return Self.doubles(equalTo: self, near: value.double)
        default:
            guard let whole = exactInteger, Int64(exactly: Double(whole)) == whole else { return [] }
            return [Double(whole)]
        }
    }
}

/// Compiles comparisons of a composite attribute. It has no column of its own, and is null where all its elements are.
extension PredicateCompiler {
    /// - Returns: nil for a comparison that only objects can evaluate: with a dictionary.
    func composite(_ elements: [CompositeElement], _ comparison: PredicateNode.Comparison, _ value: PredicateValue) -> RowFilter? {
        guard value.isNull else { return nil }
        guard comparison.comparison == .equal || comparison.comparison == .notEqual else { return ConstantFilter(false) }
        var tests: [RowFilter] = []
        for element in elements {
            let path = ExpressionNode.keyPath([table.runtime.properties[element.index].name])
            let part = PredicateNode.Comparison(left: path, comparison: comparison.comparison, right: .constant(.null))
            guard let test = compile(.comparison(part)) else { return nil }
            tests.append(test)
        }
        return comparison.comparison == .equal ? AllFilter(tests) : AnyFilter(tests)
    }
}

import Foundation
internal import HeartwoodFileReading

/// A reader of archived predicates and expressions in compiled models and mapping models.
///
/// Comparisons, compounds, constants, variables, key paths, functions and fetches were read from files of Xcode's and Core Data's. No file
/// had aggregates, sets, subqueries or conditionals. Their keys are assumed to be those of Foundation's coding.
struct CompiledPredicateReader {
    /// The path of the file.
    let path: String
    /// The part of the model that has the predicate.
    let of: String
    /// Limits the nesting, since archives can have cycles.
    private var depth = 0
    private static let depthMax = 100

    init(path: String, of what: String) {
        self.path = path
        of = what
    }

    private func failure(_ message: String) -> NSError { ModelFile.failure("\(path): \(of) has a predicate or expression \(message).") }

    private func deeper() throws -> CompiledPredicateReader {
        var inner = self
        inner.depth += 1
        guard inner.depth < Self.depthMax else { throw failure("that is nested deeper than \(Self.depthMax) levels") }
        return inner
    }

    // MARK: Predicates

    func predicate(_ object: KeyedArchive.Object) throws -> PredicateNode {
        let inner = try deeper()
        switch object.className {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSComparisonPredicate": return .comparison(try inner.comparison(object))
        case "NSCompoundPredicate":
            let parts = try object.members("NSSubpredicates").compactMap { try $0.object() }.map { try inner.predicate($0) }
            switch try object.integer("NSCompoundPredicateType") {
            case 0:
                guard let part = parts.first, parts.count == 1 else { throw failure("with a NOT of \(parts.count) parts") }
                return .not(part)
            case 1: return .and(parts)
            case 2: return .or(parts)
            case let other: throw failure("of the unknown compound type \(other ?? -1)")
            }
        default: throw failure("of the unknown class \"\(object.className)\"")
        }
    }

    private func comparison(_ object: KeyedArchive.Object) throws -> PredicateNode.Comparison {
        guard let left = try object.object("NSLeftExpression"), let right = try object.object("NSRightExpression"),
            let described = try object.object("NSPredicateOperator")
        else { throw failure("that compares nothing") }
        guard let type = try described.integer("NSOperatorType"), let comparison = Self.operators[type] else {
            throw failure(
                "with the operator \(try described.integer("NSOperatorType") ?? -1), which is unknown; write it another way in Xcode")
        }
        let modifiers: [Int64: PredicateNode.Modifier] = [0: .direct, 1: .all, 2: .any]
        guard let modifier = modifiers[try described.integer("NSModifier") ?? 0] else { throw failure("with an unknown modifier") }
        let flags = try described.integer("NSFlags") ?? described.integer("NSOptions") ?? 0
        return PredicateNode.Comparison(
            left: try expression(left), comparison: comparison, right: try expression(right), modifier: modifier,
            options: PredicateNode.Options(rawValue: Int(flags & 0xF)))
    }

    /// By the raw values of `NSComparisonPredicate.Operator`.
    private static let operators: [Int64: PredicateNode.Operator] = [
        0: .less, 1: .lessOrEqual, 2: .greater, 3: .greaterOrEqual, 4: .equal, 5: .notEqual, 6: .matches, 7: .like, 8: .beginsWith,
        9: .endsWith, 10: .isIn, 99: .contains, 100: .between,
    ]

    // MARK: Expressions

    func expression(_ object: KeyedArchive.Object) throws -> ExpressionNode {
        let inner = try deeper()
        switch try object.integer("NSExpressionType") {
        case 0: return .constant(try constant(object))
        case 1: return .keyPath([])
        case 2: return .variable(try variable(object))
        case 3, 4: return try inner.call(object)
        case 5: return .set(.union, try inner.part("NSLeftExpression", object), try inner.part("NSRightExpression", object))
        case 6: return .set(.intersect, try inner.part("NSLeftExpression", object), try inner.part("NSRightExpression", object))
        case 7: return .set(.minus, try inner.part("NSLeftExpression", object), try inner.part("NSRightExpression", object))
        case 10: return .keyPath(try keys(try object.text("NSKeyPath")))
        case 13:
            return .subquery(
                try inner.part("NSExpression", object), variable: try variable(object), try inner.condition("NSSubpredicate", object))
        case 14:
            return .aggregate(try object.members("NSCollection").compactMap { try $0.object() }.map { try inner.expression($0) })
        case 20:
            return .conditional(
                try inner.condition("NSPredicate", object), try inner.part("NSTrueExpression", object),
                try inner.part("NSFalseExpression", object))
        case 50:
            return .block(ExpressionBlock(.fetch), [
                try inner.part("NSFRExpression", object), try inner.part("NSMOCExpression", object),
                .constant(.bool(try object.flag("NSCountOnlyFlag"))),
            ])
        case let other: throw failure("of the kind \(other ?? -1) (\(object.className)), which is unknown; write it another way in Xcode")
        }
    }

    private func part(_ key: String, _ object: KeyedArchive.Object) throws -> ExpressionNode {
        guard let part = try object.object(key) else { throw failure("of the class \(object.className) without \(key)") }
        return try expression(part)
    }

    private func condition(_ key: String, _ object: KeyedArchive.Object) throws -> PredicateNode {
        guard let part = try object.object(key) else { throw failure("of the class \(object.className) without \(key)") }
        return try predicate(part)
    }

    /// The variable's name, which may be archived as an expression of its own.
    private func variable(_ object: KeyedArchive.Object) throws -> String {
        if let name = try object.text("NSVariable") { return name }
        guard let name = try object.object("NSVariable")?.text("NSVariable") else { throw failure("with a variable that has no name") }
        return name
    }

    private func constant(_ object: KeyedArchive.Object) throws -> PredicateValue {
        if let value = try object.plain("NSConstantValue") { return PredicateValue(value) }
        guard let value = try object.object("NSConstantValue"), value.className != "NSNull" else { return .null }
        guard Self.collections.contains(value.className) else {
            throw failure("with a constant of the class \(value.className), which is unknown; write it another way in Xcode")
        }
        return .collection(try object.members("NSConstantValue").map { member in
            guard let value = try member.plain() else { throw failure("with a list whose members are not plain values") }
            return PredicateValue(value)
        })
    }

    private static let collections: Set<String> = ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet"]

    private func keys(_ path: String?) throws -> [String] {
        guard let path, !path.isEmpty else { return [] }
        do {
            return try PredicateKeyPath.keys(path)
        } catch {
            throw failure("that cannot be asked: \(error)")
        }
    }

    private func joined(_ first: [String], _ rest: [String]) throws -> [String] {
        guard first.count + rest.count <= PredicateKeyPath.keysMax else {
            throw failure("that cannot be asked: \(PredicateFault.longPath)")
        }
        return first + rest
    }

    /// A function, or a key path, which is archived as a call of `valueForKeyPath:`.
    private func call(_ object: KeyedArchive.Object) throws -> ExpressionNode {
        let selector = try object.text("NSSelectorName") ?? ""
        let arguments = try object.members("NSArguments").compactMap { try $0.object() }.map { try expression($0) }
        if selector == "valueForKey:" || selector == "valueForKeyPath:" {
            let keys: [String]
            switch arguments.first {
            case .keyPath(let path): keys = path
            case .constant(.text(let text)): keys = try self.keys(text)
            default: throw failure("with an invalid key path")
            }
            guard let operand = try object.object("NSOperand") else { return .keyPath(keys) }
            switch try expression(operand) {
            case .keyPath(let base): return .keyPath(try joined(base, keys))
            case .path(let base, let first): return .path(base, try joined(first, keys))
            case let base: return .path(base, keys)
            }
        }
        if let function = PredicateFunction(rawValue: selector), !function.isMethod, function.accepts(count: arguments.count) {
            return .call(function, arguments)
        }
        if let operand = try object.object("NSOperand"),
            let call = ExpressionNode.call(ofMethod: selector, [try expression(operand)] + arguments)
        {
            return call
        }
        throw failure("with the unknown function \"\(selector)\"")
    }
}

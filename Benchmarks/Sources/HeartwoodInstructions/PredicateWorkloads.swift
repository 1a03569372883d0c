// A count by a unique text, COUNT times, with a Swift predicate: of a shape that is known, or translated each time.
//   heartwood-instructions STORE predicates-known | predicates-anew COUNT
#if canImport(SwiftData)
    import Foundation
    import SwiftData

    enum PredicateWorkloads {
        static func run(_ work: String, _ count: Int, at url: URL) throws -> Int64 {
            let context = ModelContext(try ModelContainer(for: ModelPerson.self, configurations: ModelConfiguration(url: url)))
            if work == "anew" { try useAllShapes(context) }
            return try (0..<count).reduce(0) { sum, number in
                let email = "p\((number &* 7919) % 20_000)@example.com"
                return try sum &+ Int64(context.fetchCount(FetchDescriptor(predicate: #Predicate<ModelPerson> { $0.email == email })))
            }
        }

        /// Translates as many predicates of other shapes as an entity keeps, so that it keeps none more.
        private static func useAllShapes(_ context: ModelContext) throws {
            for keyPath in [\ModelPerson.name, \.note] { try compare(keyPath, "", context) }
            try compare(\.age, 0, context)
            try compare(\.birthday, 0, context)
        }

        private static func compare<Value: Comparable & Codable & Sendable>(
            _ keyPath: KeyPath<ModelPerson, Value> & Sendable, _ value: Value, _ context: ModelContext
        ) throws {
            typealias Property = PredicateExpressions.KeyPath<PredicateExpressions.Variable<ModelPerson>, Value>
            typealias Constant = PredicateExpressions.Value<Value>
            func translate(_ comparison: @escaping @Sendable (Property, Constant) -> any StandardPredicateExpression<Bool>) throws {
                let predicate = Predicate<ModelPerson> {
                    comparison(PredicateExpressions.build_KeyPath(root: $0, keyPath: keyPath), PredicateExpressions.build_Arg(value))
                }
                _ = try context.fetchCount(FetchDescriptor(predicate: predicate))
            }
            try translate { PredicateExpressions.build_Equal(lhs: $0, rhs: $1) }
            try translate { PredicateExpressions.build_NotEqual(lhs: $0, rhs: $1) }
            try translate { PredicateExpressions.build_Comparison(lhs: $0, rhs: $1, op: .lessThan) }
            try translate { PredicateExpressions.build_Comparison(lhs: $0, rhs: $1, op: .lessThanOrEqual) }
            try translate { PredicateExpressions.build_Comparison(lhs: $0, rhs: $1, op: .greaterThan) }
            try translate { PredicateExpressions.build_Comparison(lhs: $0, rhs: $1, op: .greaterThanOrEqual) }
            try translate { PredicateExpressions.build_Negation(PredicateExpressions.build_Equal(lhs: $0, rhs: $1)) }
            try translate { PredicateExpressions.build_Negation(PredicateExpressions.build_NotEqual(lhs: $0, rhs: $1)) }
            try translate {
                PredicateExpressions.build_Disjunction(
                    lhs: PredicateExpressions.build_Equal(lhs: $0, rhs: $1), rhs: PredicateExpressions.build_NotEqual(lhs: $0, rhs: $1))
            }
        }
    }
#endif

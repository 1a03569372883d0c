import Foundation
import Testing

@testable import Heartwood

/// A fetch compares numbers and texts by the column's type.
@Suite struct ColumnAffinityTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func `A number beside a text counts as its digits, a text beside a number as the number`(kind: StoreKind, isPending: Bool) throws {
        let stack = try TestStack(kind), context = stack.context
        for number in 8...12 {
            stack.insert("Person", ["name": "\(number)", "age": number, "email": "\(number)@x"])
        }
        if !isPending { try context.save() }
        for (format, arguments, wanted) in [
            ("name == %@", [9], ["9"]), ("name != %@", [9], ["10", "11", "12", "8"]), ("name IN %@", [[9, 10, 99]], ["10", "9"]),
            ("%@ == name", [9], ["9"]), ("name == %@", [9.5], []), ("name < %@", [9], ["10", "11", "12", "8"]),
            ("name BEGINSWITH %@", [1], ["10", "11", "12"]),
            ("age == %@", ["9"], ["9"]), ("age > %@", ["10"], ["11", "12"]), ("age IN %@", [["8", "x", 9]], ["8", "9"]), ("age == %@", ["x"], []),
            ("age BETWEEN %@", [["9", "11"]], ["10", "11", "9"]), ("NOT name == %@", [9], ["10", "11", "12", "8"]),
            ("name == %@ OR age == %@", [8, "12"], ["12", "8"]),
        ] as [(String, [Any], [String])] {
            let found = try stack.fetch("Person", format, arguments, in: context).compactMap { $0.value(forKey: "name") as? String }.sorted()
            #expect(found == wanted, "\(format) \(arguments)")
        }
        // A predicate without a fetch has no columns.
        #expect(!NSPredicate(format: "SELF == %@", argumentArray: [9]).evaluate(with: "9"))
    }
}

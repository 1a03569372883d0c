import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// `is` and `as?` in predicates of managed objects, and the formats that predicates of one shape share.
@Suite struct ClassPredicateTests {
    /// Wares, every second one a cup.
    private static func stack(_ kind: StoreKind) throws -> TestStack {
        let ware = NSEntityDescription(), cup = NSEntityDescription()
        (ware.name, ware.managedObjectClassName) = ("Ware", NSStringFromClass(Ware.self))
        (cup.name, cup.managedObjectClassName) = ("Cup", NSStringFromClass(Cup.self))
        ware.properties = [TestStack.attribute("price", .integer32AttributeType, optional: false, default: 0)]
        cup.properties = [TestStack.attribute("volume", .integer32AttributeType, optional: false, default: 0)]
        ware.subentities = [cup]
        let model = NSManagedObjectModel()
        model.entities = [ware, cup]
        let stack = try TestStack(kind, model: model)
        for number in 0..<12 {
            stack.insert(number % 2 == 0 ? "Ware" : "Cup", number % 2 == 0 ? ["price": number] : ["price": number, "volume": number % 4])
        }
        try stack.context.save()
        return stack
    }

    @Test(arguments: StoreKind.allCases)
    func `A store finds objects of a class, and casts them, as Swift does`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let predicates: [(Predicate<Ware>, String)] = [
            (#Predicate { $0 is Cup }, #"entity.name == "Cup""#),
            (#Predicate { !($0 is Cup) && $0.price > 3 }, #"(NOT entity.name == "Cup") AND price > 3"#),
            (#Predicate { ($0 as? Cup)?.volume == 3 }, "volume == 3"),
            (#Predicate { ($0 as? Cup)?.price == 5 }, #"TERNARY(NOT entity.name == "Cup", nil, price) == 5"#),
            (#Predicate { ($0 as? Cup) == nil }, #"NOT entity.name == "Cup""#),
        ]
        for (predicate, format) in predicates {
            let translated = try NSPredicate(translating: predicate)
            #expect(translated.predicateFormat.filter { $0 != "(" && $0 != ")" } == format.filter { $0 != "(" && $0 != ")" })
            let request = NSFetchRequest<Ware>(entityName: "Ware")
            let all = try stack.context.fetch(request)
            request.predicate = translated
            let wanted = try Set(all.filter { try predicate.evaluate($0) }.map(\.price))
            #expect(!wanted.isEmpty && wanted.count < all.count)
            #expect(try Set(stack.anew().fetch(request).map(\.price)) == wanted, "\(format)")
            #expect(Set(all.filter { translated.evaluate(with: $0) }.map(\.price)) == wanted, "\(format)")
        }
    }

    @Test func `Predicates of one shape have one format, and those of two have two`() throws {
        let stack = try Self.stack(.inMemory)
        func number(_ price: Int, isLess: Bool = false) throws -> Int? {
            try NSPredicate(translating: isLess ? #Predicate<Ware> { $0.price < price } : #Predicate<Ware> { $0.price > price }).formatTree?.number
        }
        let first = try #require(try number(3))
        #expect(try number(7) == first)
        #expect(try #require(try number(7, isLess: true)) != first)
        _ = stack
    }
}

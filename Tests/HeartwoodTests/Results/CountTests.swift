import Foundation
import Testing

@testable import Heartwood

@Suite struct CountTests {
    /// Ten objects, three of them of a subentity; then unsaved changes.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `Counts agree with the fetch`(kind: StoreKind, isChild: Bool) throws {
        let stack = try TestStack(kind)
        for number in 0..<10 { stack.insert(number < 3 ? "Employee" : "Person", ["age": number]) }
        try stack.context.save()
        var context = stack.context
        if isChild {
            context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.parent = stack.context
        }
        for isChanged in [false, true] {
            if isChanged {
                let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "age", ascending: true)], in: context)
                people[0].setValue(100, forKey: "age")
                context.delete(people[4])
                stack.insert("Person", ["age": 6], into: context)
                stack.insert("Employee", ["age": 50], into: context)
            }
            for (entity, own) in [("Person", true), ("Person", false), ("Employee", true)] {
                for format in [nil, "age > 4", "age * 2 > 8"] {
                    for (limit, offset) in [(0, 0), (2, 0), (0, 3), (4, 4), (3, 100)] {
                        for pending in [true, false] {
                            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                            request.predicate = format.map { NSPredicate(format: $0) }
                            (request.fetchLimit, request.fetchOffset) = (limit, offset)
                            (request.includesSubentities, request.includesPendingChanges) = (own, pending)
                            let found = try context.fetch(request).count
                            #expect(try context.count(for: request) == found, "\(entity) \(format ?? "-") \(limit) \(offset) \(pending)")
                            let number = NSFetchRequest<NSNumber>(entityName: entity)
                            number.resultType = .countResultType
                            number.predicate = request.predicate
                            (number.fetchLimit, number.fetchOffset) = (limit, offset)
                            (number.includesSubentities, number.includesPendingChanges) = (own, pending)
                            #expect(try context.fetch(number) == [NSNumber(value: found)])
                        }
                    }
                }
            }
        }
        let all = NSFetchRequest<NSManagedObject>(entityName: "Person")
        #expect(try context.count(for: all) == 11)
        all.includesPendingChanges = false
        #expect(try context.count(for: all) == 10)
    }
}

import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Values of all rows, which several threads read straight into the result.
@Suite struct WholeTableValuesTests {
    private static let threads = QueryTuning(cores: 3, rowsForCores: 1)

    /// Three pages of persons, a group for each tenth, and some employees, whose table is another.
    private static func filled(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind), group = stack.insert("Group", ["title": "trees"])
        for number in 0..<9000 {
            let person = stack.insert("Person", ["name": "name \(number)", "age": number])
            if number % 10 == 0 { person.setValue(group, forKey: "group") }
        }
        for number in 0..<50 { stack.insert("Employee", ["name": "employee \(number)", "age": number]) }
        try stack.context.save()
        return stack
    }

    private static func request(_ entity: String = "Person") -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: entity) }

    private static func check(_ stack: TestStack) throws {
        let objects = try stack.anew().fetch(request())
        for tuning in [threads, QueryTuning(cores: 1)] {
            let context = stack.newContext(), before = stack.rowReads
            let rows = try QueryTuning.with(tuning) {
                try context.values(
                    request(), AttributePath<String?>("name"), AttributePath<Int32>("age"), AttributePath<String?>("group.title"))
            }
            #expect(context.lastQuery.cores == min(tuning.cores, 3) && context.lastQuery.rowsMatched == objects.count)
            #expect(stack.rowReads - before <= UInt64(2 * objects.count))
            #expect(rows.map(\.0) == objects.map { $0.value(forKey: "name") as? String })
            #expect(rows.map { Int($0.1) } == objects.map { $0.value(forKey: "age") as? Int })
            #expect(rows.map(\.2) == objects.map { $0.value(forKeyPath: "group.title") as? String })
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Threads give the values in the order of a fetch, whichever rows are gone`(kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        try Self.check(stack)
        // The first rows, rows of two pages, and the last row of the table.
        for ages in ["age < 5", "age > 4000 AND age < 5000", "age == 8999", "modulus:by:(age, 3) == 0"] {
            for object in try stack.fetch("Person", ages) { stack.context.delete(object) }
            try stack.context.save()
            try Self.check(stack)
        }
        for number in 0..<20 { stack.insert("Person", ["name": "late \(number)", "age": number]) }
        try stack.context.save()
        try Self.check(stack)
    }

    @Test
    func `A table of few rows with high numbers is read in turn`() throws {
        let stack = try Self.filled(.recordLog)
        for object in try stack.fetch("Person", "age < 8990") { stack.context.delete(object) }
        try stack.context.save()
        let rows = try QueryTuning.with(Self.threads) { try stack.newContext().values(Self.request(), AttributePath<String?>("name")) }
        #expect(rows.count == 10 && rows.first == "name 8990")
    }

    @Test
    func `A missing value in one thread's rows is an error that names the first such object, and the values of others are released`() throws {
        let stack = try Self.filled(.recordLog), order = [NSSortDescriptor(key: "age", ascending: true)]
        let objects = try stack.fetch("Person", "age IN {300, 8000}", sort: order)
        for object in objects { object.setValue(nil, forKey: "name") }
        // Longer than a string that has no memory of its own.
        for object in try stack.fetch("Person", "age < 200") { object.setValue("a name that is longer than a word or two", forKey: "name") }
        try stack.context.save()
        let error = try #require(throws: NSError.self) {
            try QueryTuning.with(Self.threads) {
                _ = try stack.newContext().values(Self.request(), AttributePath<Int32>("age"), AttributePath<String>("name"))
            }
        }
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
        #expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID] == [objects[0].objectID])
    }

    @Test
    func `Columns of objects and computed values are read in turn`() throws {
        let stack = try Self.filled(.recordLog)
        try QueryTuning.with(Self.threads) { () throws in
            let context = stack.newContext()
            #expect(try context.values(Self.request(), AttributePath<Int>("tags.@count")).allSatisfy { $0 == 0 })
            #expect(context.lastQuery.cores == 1)
            #expect(try context.values(Self.request(), AttributePath<NSManagedObjectID>("objectID")).count == 9050)
            #expect(context.lastQuery.cores == 1)
        }
    }
}

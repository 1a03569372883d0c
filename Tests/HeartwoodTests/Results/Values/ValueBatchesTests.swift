import Foundation
import Testing

@testable import Heartwood

@Suite struct ValueBatchesTests {
    private func people() -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "email", ascending: true)]
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func `Batches have the rows of the whole fetch, so many at a time`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext()
        let all = try context.values(people(), \.name, \.age)
        let batches = try context.valueBatches(people(), \.name, \.age, size: 7)
        var sizes: [Int] = [], names: [String?] = []
        while let rows = try batches.next() {
            sizes.append(rows.count)
            names += rows.map(\.0)
        }
        #expect(sizes == [7, 7, 7, 7, 7, 5] && names == all.map(\.0))
        #expect(try batches.next() == nil)
        let paths = try context.valueBatches(people(), AttributePath<String?>("group.title"), size: 100)
        #expect(try paths.next() == context.fetch(people()).map { $0.value(forKeyPath: "group.title") as? String })
    }

    @Test(arguments: StoreKind.allCases)
    func `A commit between two batches does not show, nor does what the context changes then`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext(), other = stack.newContext()
        let expected = try context.values(people(), \.name)
        let batches = try context.valueBatches(people(), \.name, size: 10)
        var names = try batches.next() ?? []
        let objects = try other.fetch(people())
        for object in objects { object.name = "changed" }
        other.delete(objects[30])
        stack.insert("Person", ["name": "new", "email": "new", "age": 5], into: other)
        try other.save()
        try context.fetch(people()).first?.name = "changed here"
        while let rows = try batches.next() { names += rows }
        #expect(names == expected)
    }

    @Test(arguments: StoreKind.allCases)
    func `A loop that awaits has the same batches`(kind: StoreKind) async throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext()
        let expected = try context.values(people(), \.name, \.age)
        var ages: [Int] = []
        for try await rows in try context.valueBatches(people(), \.name, \.age, size: 9) { ages += rows.map(\.1) }
        #expect(ages == expected.map(\.1))
    }

    @Test(arguments: StoreKind.planning)
    func `Batches read their own rows only, and make no object`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext()
        let request = NSFetchRequest<Person>(entityName: "Person")
        let batches = try context.valueBatches(request, \.age, size: 10)
        let found = stack.rowReads
        #expect(try batches.next()?.count == 10 && stack.rowReads - found == 10 && context.registeredCount == 0)
    }
}

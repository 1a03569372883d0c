import Foundation
import Testing

@testable import Heartwood

/// A context keeps the rows of a store that answers requests, because its objects point at them.
@Suite struct AnsweredRowsTests {
    private func request(_ format: String?) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        return request
    }

    /// Each of these fetches once kept another copy of all rows until the context was reset.
    @Test
    func `Fetches beside unsaved changes keep the rows once`() throws {
        let stack = try TestStack(.incremental)
        for number in 0..<5 { stack.insert("Person", ["name": "n\(number)", "email": "p\(number)@x"]) }
        try stack.context.save()
        let context = stack.anew()
        stack.insert("Person", ["email": "new@x"], into: context)
        for _ in 0..<20 {
            let found = try context.fetch(request("email == 'p1@x' OR email == 'new@x' OR email ENDSWITH '2@x'"))
            #expect(Set(found.map { $0.value(forKey: "email") as? String }) == ["p1@x", "p2@x", "new@x"])
        }
        #expect(context.readState.memory.answers.count == 1)
    }

    @Test
    func `A context that goes from one store to the other and back keeps the rows of each once`() throws {
        let stack = try TestStack(.incremental), scratch = try ScratchDirectory(), url = scratch["Other"]
        let other = try stack.coordinator.addPersistentStore(ofType: StoreKind.incremental.type, configurationName: nil, at: url, options: nil)
        for number in 0..<4 {
            let person = stack.insert("Person", ["email": "p\(number)@x"])
            stack.context.assign(person, to: number % 2 == 0 ? stack.persistentStore : other)
        }
        try stack.context.save()
        let context = stack.anew()
        for turn in 0..<20 {
            let request = request(nil)
            request.affectedStores = [turn % 2 == 0 ? stack.persistentStore : other]
            #expect(try context.fetch(request).map { $0.value(forKey: "email") as? String }.count == 2)
        }
        #expect(context.readState.memory.answers.count == 2)
    }
}

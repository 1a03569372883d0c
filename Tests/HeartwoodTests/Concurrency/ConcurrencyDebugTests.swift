import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

@Suite struct ConcurrencyDebugTests {
    /// A store with one saved person.
    private static func stack() throws -> TestStack {
        setenv(ConcurrencyDebug.variable, "1", 1)
        let stack = try TestStack(.inMemory)
        stack.insert("Person", ["name": "a", "age": 7])
        try stack.context.save()
        return stack
    }

    private static func context(
        _ stack: TestStack, _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = stack.coordinator
        context.name = "import"
        return context
    }

    @Test
    func `An argument or the environment turns the debug mode on`() {
        func isOn(_ arguments: [String], _ environment: [String: String] = [:]) -> Bool {
            ConcurrencyDebug.isAsked(arguments: arguments, environment: environment)
        }
        #expect(!isOn([]) && !isOn(["tool", "1"]) && !isOn(["tool", ConcurrencyDebug.argument]))
        #expect(isOn(["tool", ConcurrencyDebug.argument, "1"]) && isOn(["tool", ConcurrencyDebug.argument, "YES", "x"]))
        #expect(isOn([], [ConcurrencyDebug.variable: "1"]) && !isOn([], [ConcurrencyDebug.variable: "0"]))
        #expect(!isOn(["tool", ConcurrencyDebug.argument, "0"], [ConcurrencyDebug.variable: "1"]), "the argument is nearer")
    }

    @Test
    func `Uses on the right queue continue`() async {
        await #expect(processExitsWith: .success) {
            let stack = try Self.stack()
            let context = Self.context(stack), main = Self.context(stack, .mainQueueConcurrencyType)
            try context.performAndWait {
                let person = try stack.fetch("Person", in: context)[0]
                person.setValue(8, forKey: "age")
                main.performAndWait { context.performAndWait { _ = person.value(forKey: "age") } }
                person.mutableSetValue(forKey: "tags").add(stack.insert("Tag", ["label": "x"], into: context))
                try context.save()
                context.refresh(person, mergeChanges: false)
                guard person.value(forKey: "age") as? Int == 8 else { exit(1) }
            }
            try await MainActor.run {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                guard try main.fetch(request)[0].value(forKey: "age") as? Int == 8 else { exit(2) }
            }
            let names = try await main.perform { try stack.fetch("Person", in: main).map { $0.value(forKey: "name") as? String } }
            guard names == ["a"] else { exit(3) }
            await context.perform { context.reset() }
        }
    }

    @Test
    func `A context used outside its queue traps and names itself`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            let context = Self.context(stack)
            _ = try stack.fetch("Person", in: context)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("fetch(_:)") && message.contains("\"import\"") && message.contains("performAndWait"))
    }

    @Test
    func `A property read outside its queue traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            let context = Self.context(stack)
            let person = try context.performAndWait {
                let person = try stack.fetch("Person", in: context)[0]
                _ = person.value(forKey: "name")
                return person
            }
            _ = person.managedInteger(at: 0)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("a property was used on the wrong queue"))
    }

    @Test
    func `A thread's context traps on another thread`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            let other = stack.newContext()
            nonisolated(unsafe) let person = stack.insert("Person", ["name": "b"], into: other)
            await onThread { person.setValue("c", forKey: "name") }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("confined to the thread"))
    }

    private func expectTrap(_ result: ExitTest.Result?, _ use: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("\(use) was used on the wrong queue"), sourceLocation: sourceLocation)
    }

    @Test
    func `A request executed outside its queue traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Person"))
            let stack = try Self.stack()
            try Self.context(stack).execute(request)
        }
        expectTrap(result, "execute(_:)")
        let direct = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Person"))
            let stack = try Self.stack()
            try stack.coordinator.execute(request, with: Self.context(stack))
        }
        expectTrap(direct, "execute(_:with:)")
    }

    @Test
    func `Permanent IDs asked for outside the queue trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            try Self.context(stack).obtainPermanentIDs(for: [])
        }
        expectTrap(result, "obtainPermanentIDs(for:)")
    }

    @Test
    func `A context that is reset outside its queue ends the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            Self.context(stack).reset()
        }
        expectTrap(result, "reset()")
    }

    @Test
    func `Undo and redo outside the queue trap`() async {
        let undone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            Self.context(stack).undo()
        }
        expectTrap(undone, "undo()")
        let redone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Self.stack()
            Self.context(stack).redo()
        }
        expectTrap(redone, "redo()")
    }
}

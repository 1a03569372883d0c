import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Core Data raises an exception in these cases; Heartwood ends the process with a message that says what to change, in optimized builds too.
///
/// Each case runs a process of its own, so there are few; `ValueTests` checks the messages without a process.
@Suite struct ProgrammerErrorTests {
    func says(_ result: ExitTest.Result?, _ text: String) -> Bool {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(text)
    }

    @Test
    func `A value of the wrong type is refused`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestStack(.inMemory).insert("Person", [:]).setValue("old", forKey: "age")
        }
        #expect(says(result, "Unacceptable type of value for Person.age: it is Integer 32, the value is"))
    }

    @Test
    func `A primitive relationship takes only objects of its context`() async {
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestStack(.inMemory).insert("Person", [:]).setPrimitiveValue("g", forKey: "group")
        }
        #expect(says(text, "Unacceptable type of value for Person.group"))
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack(.inMemory)
            stack.insert("Person", [:]).setPrimitiveValue(stack.insert("Group", ["title": "g"], into: stack.anew()), forKey: "group")
        }
        #expect(says(foreign, "Person.group was given an object of another context"))
    }

    @Test
    func `An unknown key is refused`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestStack(.inMemory).insert("Person", [:]).value(forKey: "nmae")
        }
        #expect(says(result, "The entity Person is not key value coding-compliant for the key \"nmae\"; it has age, birthday"))
    }

    @Test
    func `An object of another context is refused`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack(.inMemory)
            let group = stack.insert("Group", ["title": "g"], into: stack.anew())
            stack.insert("Person", [:]).setManagedObject(group, at: 4)
        }
        #expect(says(result, "Person.group was given an object of another context; take it by its objectID with object(with:) first."))
    }

    @Test
    func `An accessor of a relationship that is called for an attribute ends the process and says so`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack(.inMemory)
            stack.insert("Person", [:]).addManagedObject(stack.insert("Tag", [:]), at: 0)
        }
        #expect(says(result, "Person.name is no relationship, and holds no objects."))
    }

    @Test
    func `An object from before a reset cannot be deleted`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack(.inMemory)
            let person = stack.insert("Person", [:])
            stack.context.reset()
            stack.context.delete(person)
        }
        #expect(says(result, "its context was reset, or it was never inserted. Fetch it anew."))
    }

    @Test
    func `An unordered relationship has no ordered set`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestStack(.inMemory).insert("Person", [:]).mutableOrderedSetValue(forKey: "tags")
        }
        #expect(says(result, "Person.tags is not ordered; use mutableSetValue(forKey:), or set isOrdered in the model."))
    }
}

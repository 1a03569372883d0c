import Foundation
import Testing

@testable import Heartwood

@Suite struct StalenessTests {
    @Test(arguments: StoreKind.allCases)
    func `A fault that may not be stale reads its row when it fires`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        stack.insert("Person", ["name": "a", "age": 1])
        try stack.context.save()
        let lax = stack.anew(), strict = stack.anew(), writer = stack.anew()
        strict.stalenessInterval = 0
        let (old, new) = (try stack.fetch("Person", in: lax)[0], try stack.fetch("Person", in: strict)[0])
        #expect(lax.stalenessInterval == -1 && old.isFault && new.isFault)
        writer.object(with: old.objectID).setValue("b", forKey: "name")
        try writer.save()
        #expect(new.value(forKey: "name") as? String == "b" && !new.isFault && !new.hasChanges)
        if StoreKind.planning.contains(kind) { #expect(old.value(forKey: "name") as? String == "a", "the row that the fetch found") }
        writer.object(with: old.objectID).setValue("c", forKey: "name")
        try writer.save()
        #expect(new.value(forKey: "name") as? String == "b", "what was read stays")
        // The next save compares with the values that it shows.
        new.setValue(2, forKey: "age")
        #expect(throws: NSError.self) { try strict.save() }
        strict.refresh(new, mergeChanges: true)
        try strict.save()
        #expect(try stack.fetch("Person", "name == 'c' AND age == 2", in: stack.anew()).count == 1)
    }

    @Test(arguments: StoreKind.planning)
    func `Reading again costs one row`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for number in 0..<10 { stack.insert("Person", ["age": number]) }
        try stack.context.save()
        for (interval, cost) in [(-1.0, 0), (0, 10), (60, 10)] {
            let context = stack.anew()
            context.stalenessInterval = interval
            let people = try stack.fetch("Person", in: context)
            let before = stack.rowReads
            for person in people { _ = person.value(forKey: "age") }
            #expect(stack.rowReads - before == cost)
            for person in people { _ = person.value(forKey: "name") }
            #expect(stack.rowReads - before == cost, "it fires once")
        }
    }

    @Test(arguments: StoreKind.keepingStates)
    func `A pinned context reads its commit`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        let context = stack.anew()
        context.stalenessInterval = 0
        try context.setQueryGenerationFrom(.current)
        let mine = try stack.fetch("Person", in: context)[0]
        person.setValue("b", forKey: "name")
        try stack.context.save()
        #expect(mine.value(forKey: "name") as? String == "a")
    }
}

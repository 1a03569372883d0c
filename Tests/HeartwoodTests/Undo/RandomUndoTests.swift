import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Random edits, undos, redos and saves, compared with a stack of plain states.
@Suite struct RandomUndoTests {
    private final class Run {
        typealias State = [Int: [String: String]]

        let stack: TestStack
        var generator: SeededGenerator
        /// Every object ever made, deleted ones too; its index is its name.
        var all: [NSManagedObject] = []
        var past: [State] = []
        var future: [State] = []
        let isForgetful: Bool

        init(_ kind: StoreKind, seed: UInt64) throws {
            stack = try TestStack.undoing(kind, model: TestStack.model().widened())
            generator = SeededGenerator(seed: seed)
            isForgetful = seed % 2 == 0
        }

        func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

        func pick(_ entity: String) -> NSManagedObject? {
            all.filter { $0.entity.name == entity && isThere($0) }.randomElement(using: &generator)
        }

        func isThere(_ object: NSManagedObject) -> Bool { object.managedObjectContext != nil && !object.isDeleted }

        /// The state of the context; IDs change at a save, so objects are identified by their indexes.
        func state() -> State {
            var indexes: [NSManagedObject: Int] = [:]
            for (index, object) in all.enumerated() { indexes[object] = index }
            var result: State = [:]
            for (index, object) in all.enumerated() where isThere(object) { result[index] = plain(object) { indexes[$0] ?? -1 } }
            return result
        }

        func plain(_ object: NSManagedObject, _ index: (NSManagedObject) -> Int) -> [String: String] {
            var result: [String: String] = [:]
            for property in object.entity.properties {
                switch object.value(forKey: property.name) {
                case let one as NSManagedObject: result[property.name] = "\(index(one))"
                case let many as NSOrderedSet: result[property.name] = "\(many.map { index($0 as! NSManagedObject) })"
                case let many as NSSet: result[property.name] = "\(many.map { index($0 as! NSManagedObject) }.sorted())"
                case let value?: result[property.name] = ValueWords.of(value)
                case nil: break
                }
            }
            return result
        }

        func edit() {
            switch random(14) {
            case 0, 1:
                let entity = ["Person", "Group", "Tag", "Task"][random(4)]
                let object = stack.insert(entity, entity == "Group" ? ["title": "\(random(9))"] : [:])
                all.append(object)
            case 2:
                if let object = pick(["Person", "Group", "Tag", "Task"][random(4)]) { stack.context.delete(object) }
            case 3, 4, 5: pick(["Person", "Person", "Group", "Tag", "Task"][random(5)])?.drawValues(&generator)
            case 6: pick("Person")?.setValue(random(4) == 0 ? nil : pick("Group"), forKey: "group")
            case 7: pick("Group")?.setValue(NSSet(array: [pick("Person"), pick("Person")].compactMap { $0 }), forKey: "people")
            case 8, 9:
                guard let person = pick("Person"), let tag = pick("Tag") else { return }
                let (owner, member, key) = random(2) == 0 ? (person, tag, "tags") : (tag, person, "people")
                let set = owner.mutableSetValue(forKey: key)
                if random(2) == 0 { set.add(member) } else { set.remove(member) }
            case 10: pick("Person")?.setValue(random(4) == 0 ? nil : pick("Person"), forKey: "partner")
            case 11: pick("Task")?.setValue(random(4) == 0 ? nil : pick("Person"), forKey: "owner")
            case 12:
                guard let person = pick("Person") else { return }
                var tasks = person.members("tasks").shuffled(using: &generator)
                if let task = pick("Task"), !tasks.contains(task) { tasks.insert(task, at: random(tasks.count + 1)) }
                if random(3) == 0 { _ = tasks.popLast() }
                person.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            default: stack.context.processPendingChanges()
            }
        }

        func check(_ expected: State?, _ what: String) throws {
            let now = state()
            if let expected { try #require(now == expected, "\(what)") }
            if isForgetful { stack.context.refreshAllObjects() }
        }

        func step() throws {
            let before = state()
            if isForgetful { stack.context.refreshAllObjects() }
            switch random(10) {
            case 0..<5:
                let count = stack.manager.undoCount
                stack.group { for _ in 0...random(4) { edit() } }
                guard stack.manager.undoCount > count else { return try check(before, "no change") }
                past.append(before)
                future = []
            case 5, 6:
                let expected = past.popLast()
                stack.context.undo()
                if expected != nil { future.append(before) }
                try check(expected ?? before, "undo")
            case 7:
                let expected = future.popLast()
                stack.context.redo()
                if expected != nil { past.append(before) }
                try check(expected ?? before, "redo")
            default:
                try stack.context.save()
                try check(before, "save")
                try checkStore(before)
            }
            #expect(stack.manager.undoCount == past.count && stack.manager.redoCount == future.count)
        }

        /// Checks that the store has the context's state.
        func checkStore(_ expected: State) throws {
            var indexes: [NSManagedObjectID: Int] = [:]
            for (index, object) in all.enumerated() where isThere(object) { indexes[object.objectID] = index }
            let context = stack.newContext()
            var found: State = [:]
            for entity in ["Person", "Group", "Tag", "Task"] {
                for object in try stack.fetch(entity, in: context) {
                    found[indexes[object.objectID] ?? -1] = plain(object) { indexes[$0.objectID] ?? -1 }
                }
            }
            try #require(found == expected)
        }
    }

    /// `HEARTWOOD_UNDO_RUNS` sets the number of runs.
    private static let runs = ProcessInfo.processInfo.environment["HEARTWOOD_UNDO_RUNS"].flatMap(Int.init) ?? 12

    @Test(arguments: StoreKind.keepingEveryValue, 1...runs)
    func `Undo restores every step`(kind: StoreKind, seed: Int) throws {
        let run = try Run(kind, seed: UInt64(seed))
        do {
            for _ in 0..<60 { try run.step() }
            let end = run.state()
            let steps = run.past.count
            for expected in run.past.reversed() {
                run.stack.context.undo()
                try #require(run.state() == expected)
            }
            for _ in 0..<steps { run.stack.context.redo() }
            try #require(run.state() == end)
            try run.stack.context.save()
            try run.checkStore(end)
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }
}

import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Two coordinators on one file, with two contexts each, save, batch, delete and conflict. Sometimes the history after a token is replayed onto
/// plain dictionaries: inserted objects are read, the named properties of updated ones are read again, and deleted ones are removed. The result
/// must be the store's state.
@Suite struct RandomHistoryTests {
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["HEARTWOOD_HISTORY_SEED"].flatMap(UInt64.init) { return [one] }
        return Array(1...(environment["HEARTWOOD_HISTORY_RUNS"].flatMap(UInt64.init) ?? 6))
    }()

    /// An object's values by property, relationships as URIs.
    private typealias State = [String: [String: String]]

    @Test(arguments: seeds)
    func `Replaying the history gives the store`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("replay-\(UUID().uuidString).heartwood")
        let stacks = try (0..<2).map { _ in try TestStack.tracking(.recordLog, model: TestStack.model().widened(), at: url) }
        let contexts = stacks.flatMap { stack in [stack.context, stack.anew()] }
        for (number, context) in contexts.enumerated() {
            context.transactionAuthor = "context \(number)"
            context.mergePolicy = [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback, .overwrite][number]
        }
        let replicas = stacks.map { Replica($0) }
        for step in 0..<120 {
            let context = contexts.randomElement(using: &random)!
            do {
                try Self.step(context, stacks, step, &random)
                if step % 5 == 0 { try replicas.randomElement(using: &random)!.catchUp() }
                if step == 60 {
                    // Transactions that both have seen may be deleted.
                    for replica in replicas { try replica.catchUp() }
                    try stacks[0].context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: replicas[0].token))
                    _ = try stacks[1].store.log!.compact()
                }
            } catch {
                Issue.record("seed \(seed), step \(step): \(error)")
                return
            }
        }
        for replica in replicas {
            try replica.catchUp()
            let expected = try replica.everything(), state = replica.state
            for id in Set(expected.keys).union(state.keys) where expected[id] != state[id] {
                Issue.record("seed \(seed): \(id) is \(state[id] ?? [:]), not \(expected[id] ?? [:])")
            }
        }
    }

    /// The state of a client that reads only the history and the objects that it names.
    private final class Replica {
        private let stack: TestStack
        private(set) var state: State = [:]
        private(set) var token: NSPersistentHistoryToken?
        private var last: Int64 = 0

        init(_ stack: TestStack) {
            self.stack = stack
        }

        func catchUp() throws {
            let reader = stack.newContext()
            let transactions = try stack.transactions(after: token)
            for transaction in transactions {
                guard transaction.transactionNumber == last + 1 else { throw Problem("\(transaction) follows \(last)") }
                last = transaction.transactionNumber
                for change in transaction.changes ?? [] { try replay(change, reader) }
                token = transaction.token
            }
            guard token == stack.token || transactions.isEmpty else { throw Problem("the token is \(stack.token as Any), not \(token as Any)") }
        }

        private func replay(_ change: NSPersistentHistoryChange, _ reader: NSManagedObjectContext) throws {
            let id = change.changedObjectID.uriRepresentation().absoluteString
            // The object may be deleted by now, which a later transaction shows.
            let now = try? reader.existingObject(with: change.changedObjectID)
            switch change.changeType {
            case .insert:
                guard state[id] == nil else { throw Problem("\(change) of what is there") }
                state[id] = now.map(RandomHistoryTests.values) ?? [:]
            case .update:
                guard state[id] != nil else { throw Problem("\(change) of what is not there") }
                guard let now else { return }
                let values = RandomHistoryTests.values(now)
                for property in change.updatedProperties ?? [] { state[id]?[property.name] = values[property.name] }
            case .delete:
                guard state.removeValue(forKey: id) != nil else { throw Problem("\(change) of what is not there") }
                guard change.tombstone == nil else { throw Problem("\(change) has a tombstone") }
            }
        }

        func everything() throws -> State {
            let reader = stack.newContext()
            var result: State = [:]
            for entity in ["Person", "Group", "Tag", "Task"] {
                for object in try stack.fetch(entity, in: reader) {
                    result[object.objectID.uriRepresentation().absoluteString] = RandomHistoryTests.values(object)
                }
            }
            return result
        }
    }

    private struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private static func values(_ object: NSManagedObject) -> [String: String] {
        var result: [String: String] = [:]
        func text(_ value: Any) -> String { (value as? NSManagedObject)?.objectID.uriRepresentation().absoluteString ?? ValueWords.of(value) }
        for name in object.entity.propertiesByName.keys {
            switch object.value(forKey: name) {
            case let set as NSOrderedSet: result[name] = set.map(text).joined(separator: " ")
            case let set as NSSet: result[name] = set.map(text).sorted().joined(separator: " ")
            case let value?: result[name] = text(value)
            case nil: break
            }
        }
        return result
    }

    /// A context that learns of the other coordinator's commits only through the history, and has read some objects meanwhile, shows the store's
    /// state; so does its controller.
    @Test(arguments: seeds, [false, true])
    func `Merging the transactions' notifications gives the store`(_ seed: UInt64, isRemote: Bool) throws {
        var random = SeededGenerator(seed: seed)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("follow-\(UUID().uuidString).heartwood")
        let stacks = try (0..<2).map { _ in try TestStack.tracking(.recordLog, model: TestStack.model().widened(), at: url) }
        let writer = stacks[0], follower = stacks[1], context = stacks[1].context
        writer.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        var token = follower.token, kept: [NSManagedObject] = []
        let mirror = ListMirror(), controller = follower.controller(sort: ["age", "name"], sections: "age")
        controller.delegate = mirror
        try controller.performFetch()
        mirror.start(controller)
        for step in 0..<60 {
            try Self.step(writer.context, stacks, step, &random)
            for entity in ["Person", "Group", "Tag"] {
                guard let object = try follower.fetch(entity).randomElement(using: &random) else { continue }
                kept.append(object)
                _ = Self.values(object)
            }
            guard step % 4 == 3 else { continue }
            for transaction in try follower.transactions(after: token) {
                let told = transaction.objectIDNotification()
                if isRemote {
                    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told.userInfo ?? [:], into: [context])
                } else {
                    context.mergeChanges(fromContextDidSave: told)
                }
                token = transaction.token
            }
            let twin = follower.newContext(), fresh = follower.controller(sort: ["age", "name"], sections: "age", in: twin)
            try fresh.performFetch()
            #expect(mirror.problems == [] && mirror.sections == ListMirror.sections(of: controller), "seed \(seed), step \(step)")
            #expect(controller.shown == fresh.shown, "seed \(seed), step \(step)")
            for object in context.registeredObjects where !object.isDeleted {
                let stored = (try? twin.existingObject(with: object.objectID)).map(Self.values)
                #expect(Self.values(object) == stored, "seed \(seed), step \(step): \(object)")
            }
        }
    }

    // MARK: Steps

    private static func step(
        _ context: NSManagedObjectContext, _ stacks: [TestStack], _ step: Int, _ random: inout SeededGenerator
    ) throws {
        let stack = stacks.first { $0.coordinator === context.persistentStoreCoordinator }!
        if Int.random(in: 0..<8, using: &random) == 0 { return try batch(stack, step, &random) }
        let isUpToDate = Int.random(in: 0..<3, using: &random) > 0
        if isUpToDate { context.refreshAllObjects() }
        for _ in 0..<Int.random(in: 1...4, using: &random) { try change(context, stack, step, &random) }
        // An up-to-date context's values are the store's afterwards, unless another object has its e-mail address. In that case the policy decides,
        // and some policies drop all of the object's changes.
        let takesAddress = context.insertedObjects.union(context.updatedObjects).contains { $0.changedValues()["email"] != nil }
        let expected = isUpToDate && !takesAddress ? context.updatedObjects.map { ($0, $0.moreValues) } : []
        do {
            try context.save()
            for (object, values) in expected where !object.isDeleted && object.managedObjectContext != nil {
                context.refresh(object, mergeChanges: true)
                #expect(object.moreValues == values, "step \(step): \(object.objectID)")
            }
        } catch {
            // Two contexts' changes cannot always be merged; nothing is saved then.
            context.rollback()
        }
    }

    private static func batch(_ stack: TestStack, _ step: Int, _ random: inout SeededGenerator) throws {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            _ = try stack.insertBatch(
                (0..<4).map { ["name": "b\(step)", "email": "\(($0 &+ step) % 9)@x"] }, policy: .mergeByPropertyObjectTrump)
        case 1: _ = try stack.updateBatch("Person", "age > \(step % 9)", ["age": step, "note": NSNull(), "end": NSNull(), "motto": "m\(step)"])
        case 2: _ = try stack.updateBatch("Task", nil, ["title": "t\(step)"])
        default: _ = try stack.deleteBatch("Person", "age == \(Int.random(in: 0..<120, using: &random))")
        }
    }

    private static func change(
        _ context: NSManagedObjectContext, _ stack: TestStack, _ step: Int, _ random: inout SeededGenerator
    ) throws {
        func some(_ entity: String) throws -> NSManagedObject? {
            let all = try stack.fetch(entity, in: context).filter { !$0.isDeleted }
            return all.sorted { $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString }
                .randomElement(using: &random)
        }
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<4:
            let entity = ["Person", "Employee", "Group", "Tag", "Task", "Person"].randomElement(using: &random)!
            let name = ["Group": "title", "Task": "title", "Tag": "label"][entity] ?? "name"
            stack.insert(entity, [name: "n\(step)"], into: context).drawValues(keeping: [name], &random)
        case 4: try some("Person")?.setValue(Int.random(in: 0..<120, using: &random), forKey: "age")
        case 5: try some(["Person", "Person", "Group", "Tag", "Task"].randomElement(using: &random)!)?.drawValues(&random)
        case 6: try some("Person")?.setValue("\(Int.random(in: 0..<9, using: &random))@x", forKey: "email")
        case 7: try some("Person")?.setValue(ValueDomain.isNothing(&random) ? nil : try some("Group"), forKey: "group")
        case 8: try some("Person")?.setValue(ValueDomain.isNothing(&random) ? nil : try some("Person"), forKey: "partner")
        case 9:
            if let person = try some("Person"), let tag = try some("Tag") {
                let set = person.mutableSetValue(forKey: "tags")
                if set.contains(tag) { set.remove(tag) } else { set.add(tag) }
            }
        case 10...11:
            if let person = try some("Person"), let task = try some("Task") {
                let list = person.mutableOrderedSetValue(forKey: "tasks")
                if list.contains(task) { list.remove(task) } else { list.insert(task, at: 0) }
            }
        case 12..<14: try some("Person")?.drawValues(&random)
        case 14: if let object = try some(["Group", "Tag", "Task"].randomElement(using: &random)!) { context.delete(object) }
        default: if let object = try some("Person") { context.delete(object) }
        }
    }
}

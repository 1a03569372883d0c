import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Getters cannot throw. The next save throws a failed read's error, and writes nothing derived from it.
@Suite struct ReadingFailureTests {
    /// A store that is read instead of mapped, whose file is cut short and restored.
    private final class Medium {
        let stack: TestStack
        let ids: [NSManagedObjectID]
        let group: NSManagedObjectID
        private let bytes: Data

        init() throws {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
            do {
                let stack = try TestStack(.recordLog, at: url)
                let group = stack.insert("Group", ["title": "g"])
                let people = (0..<200).map { number in
                    stack.insert("Person", ["name": "\(number) " + String(repeating: "n", count: 500), "group": group])
                }
                try stack.context.save()
                try stack.store.log?.checkpoint()
                self.group = group.objectID
                ids = people.map(\.objectID)
                for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
                bytes = try Data(contentsOf: url)
            }
            try bytes.write(to: url)
            stack = try TestStack(.recordLog, at: url, options: [NSRecordLogMemoryMappingOption: false])
        }

        private func id(_ old: NSManagedObjectID) throws -> NSManagedObjectID {
            try #require(stack.coordinator.managedObjectID(forURIRepresentation: old.uriRepresentation()))
        }

        func person(_ number: Int) throws -> NSManagedObject { stack.context.object(with: try id(ids[number])) }
        func theGroup() throws -> NSManagedObject { stack.context.object(with: try id(group)) }

        func fail(_ body: () throws -> Void) throws {
            let handle = try FileHandle(forUpdating: stack.url)
            try handle.truncate(atOffset: 8192)
            try body()
            try handle.seek(toOffset: 8192)
            try handle.write(contentsOf: bytes[8192...])
            try handle.close()
        }

        var sequence: UInt64 { stack.store.log?.snapshot().sequence ?? 0 }
    }

    private func refusal(_ medium: Medium) -> NSError? {
        #expect(throws: NSError.self) { try medium.stack.context.save() }
    }

    @Test
    func `Nothing derived from a failed read is saved`() throws {
        let medium = try Medium()
        let context = medium.stack.context, before = medium.sequence
        let unread = try medium.person(3), changed = try medium.person(190)
        let old = try #require(changed.value(forKey: "name") as? String)
        try medium.fail {
            #expect(unread.value(forKey: "name") == nil)
            changed.setValue("of \(unread.value(forKey: "name") as? String ?? "nobody")", forKey: "name")
        }
        // The file is restored; the changes are still wrong.
        for _ in 0..<2 {
            let error = refusal(medium)
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreSaveError)
            let cause = error?.userInfo[NSUnderlyingErrorKey] as? StoreError
            #expect(cause?.code == .corrupt && cause?.offset == 8192)
            #expect(error?.userInfo[NSFilePathErrorKey] as? String == medium.stack.url.path)
            #expect(error?.localizedDescription.contains("Roll the context back") == true)
        }
        #expect(medium.sequence == before && context.hasChanges)

        context.rollback()
        #expect(changed.value(forKey: "name") as? String == old)
        #expect((unread.value(forKey: "name") as? String)?.hasPrefix("3 ") == true)
        changed.setValue("right", forKey: "name")
        try context.save()
        #expect(medium.sequence == before + 1)
    }

    /// A relationship that could not be read once seemed empty: its members kept their references to the deleted object.
    @Test
    func `A deletion that could not follow its rules is not saved`() throws {
        let medium = try Medium()
        let context = medium.stack.context, group = try medium.theGroup()
        try medium.fail { context.delete(group) }
        #expect(refusal(medium)?.code == NSPersistentStoreSaveError)
        context.rollback()
        #expect((group.value(forKey: "people") as? Set<NSManagedObject>)?.count == 200)
        context.delete(group)
        try context.save()
        #expect(try medium.stack.fetch("Person", "group == nil").count == 200)
    }

    @Test
    func `Another context can save, and this one after a reset`() throws {
        let medium = try Medium()
        let context = medium.stack.context, unread = try medium.person(3)
        try medium.fail { #expect(unread.value(forKey: "name") == nil) }
        medium.stack.insert("Person", ["name": "new"])
        #expect(refusal(medium) != nil)
        let other = medium.stack.newContext()
        medium.stack.insert("Person", ["name": "other"], into: other)
        try other.save()
        context.reset()
        medium.stack.insert("Person", ["name": "new"])
        try context.save()
        #expect(try medium.stack.fetch("Person", "name IN %@", [["new", "other"]]).count == 2)
    }
}

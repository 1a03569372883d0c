import Foundation
import Testing

@testable import Heartwood

/// Saves that conflict with another context's save.
extension WayOfWriting {
    private var policy: NSMergePolicy {
        switch self {
        case .mergedForStore, .upsertForStore: .mergeByPropertyStoreTrump
        case .mergedForObject, .upsert: .mergeByPropertyObjectTrump
        case .overwritten, .upsertOverwriting: .overwrite
        case .rolledBack, .upsertRolledBack: .rollback
        default: .error
        }
    }

    /// Another context saves the changes of each case while this one has the changes of the next case.
    func merge(_ store: CombinedStore) throws {
        try insertBefore(store)
        let context = store.stack.context, before = store.expected
        try store.change(in: context, shift: 1)
        let other = store.stack.anew()
        try store.change(in: other)
        if self == .followed { context.automaticallyMergesChangesFromParent = true }
        try other.save()
        context.mergePolicy = policy
        if self == .refreshedBeforeSaving {
            for object in context.registeredObjects { context.refresh(object, mergeChanges: true) }
        }
        for number in store.sample.cases.indices { expectMerge(of: number, before[number], store) }
        guard self == .refused else { return try context.save() }
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        context.rollback()
    }

    private func expectMerge(of number: Int, _ base: [ValueState], _ store: CombinedStore) {
        let columns = store.sample.columns, my = store.changes(number, 1)
        let theirs = base.changed(by: store.changes(number)), mine = base.changed(by: my)
        // Two states may share one value, as true and the least number do for a Boolean.
        func plain(_ states: [ValueState]) -> [String] { zip(columns, states).map { $0.plain($1, number) } }
        let was = plain(base), their = plain(theirs), our = plain(mine)
        store.expected[number] = switch self {
        // A column that this context has not changed has the other one's value.
        case _ where my.allSatisfy({ $0 == nil }): theirs
        case .refused: theirs
        case .mergedForStore: base.indices.map { their[$0] != was[$0] ? theirs[$0] : mine[$0] }
        case .mergedForObject, .refreshedBeforeSaving, .followed: base.indices.map { our[$0] != was[$0] ? mine[$0] : theirs[$0] }
        case .rolledBack: their == was ? mine : theirs
        default: mine
        }
        guard [.mergedForStore, .mergedForObject, .refreshedBeforeSaving, .followed].contains(self) else { return }
        // Each element of a composite is merged by itself.
        for (index, column) in columns.enumerated() where column.kind == .composite {
            func elements(_ states: [ValueState]) -> [String: NSObject] { column.value(states[index], number) as? [String: NSObject] ?? [:] }
            let old = elements(base), new = elements(theirs), own = elements(mine)
            let merged = Dictionary(uniqueKeysWithValues: ["city", "x"].compactMap { name -> (String, NSObject)? in
                let isTheirs = self == .mergedForStore ? new[name] != old[name] : own[name] == old[name]
                return (isTheirs ? new[name] : own[name]).map { (name, $0) }
            })
            store.mixed[[number, index]] = column.kind.plain(merged.isEmpty ? nil : merged)
        }
    }

    func upsert(_ store: CombinedStore) throws {
        try insertBefore(store)
        let other = store.stack.anew(), before = store.expected
        other.mergePolicy = policy
        try store.insert(\.after, into: other)
        if self != .upsert && self != .upsertOverwriting { store.expected = before }
        guard self == .upsertRefused else { return try other.save() }
        let error = #expect(throws: NSError.self) { try other.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
    }
}

import Foundation
import Testing

@testable import Heartwood

/// A way of changing a sample's objects from their old states to their new ones. Each way also sets the expected states.
///
/// HEARTWOOD_COMBINATIONS_WAYS=own,upsert in the environment runs only those.
enum WayOfWriting: String, CaseIterable, CustomTestStringConvertible {
    /// A save of new objects: with all values, with only the changed ones, with values that were set twice.
    case insertion, partialInsertion, insertionAfter
    /// A save of changed objects in the context that made them, and in another one; one object a save; one save after the other.
    case own, elsewhere, oneByOne, twice
    case child, childInsertion, grandchild
    case undone, redone, undoneBeforeSaving
    /// A save in conflict with another one, under each merge policy.
    case mergedForStore, mergedForObject, overwritten, rolledBack, refused
    /// A save of changes over another context's save, after a refresh or its notification.
    case refreshedBeforeSaving, followed
    /// Insertions of objects whose unique key exists already, under each merge policy.
    case upsert, upsertForStore, upsertOverwriting, upsertRolledBack, upsertRefused
    case batchDictionaries, batchDictionaryHandler, batchObjectHandler, batchPartial, batchUpsert, batchUpsertOfChanges, batchUpdate,
        batchExpression

    static let wanted: [WayOfWriting] = {
        let names = ProcessInfo.processInfo.environment["HEARTWOOD_COMBINATIONS_WAYS"]?.split(separator: ",").map(String.init)
        return allCases.filter { names?.contains($0.rawValue) ?? true }
    }()

    var testDescription: String { rawValue }

    var kinds: [StoreKind] {
        switch self {
        // Each save writes a binary archive as a whole, and not each store has batch requests.
        case .oneByOne, .batchDictionaries, .batchDictionaryHandler, .batchObjectHandler, .batchPartial, .batchUpsert, .batchUpsertOfChanges,
            .batchUpdate, .batchExpression:
            StoreKind.batching.filter { StoreKind.keepingEveryValue.contains($0) }
        default: StoreKind.keepingEveryValue
        }
    }

    func write(_ store: CombinedStore) throws {
        let stack = store.stack, context = stack.context
        switch self {
        case .insertion:
            try insertBefore(store)
            store.writer = context
        case .partialInsertion:
            // A required column has a default value.
            try store.insert(\.changes, into: context)
            try context.save()
            store.writer = context
        case .insertionAfter:
            // Each is set before its first save, and then changed.
            try store.insert(\.before, into: context)
            try store.change(in: context)
            store.expectChanges()
            try context.save()
            store.writer = context
        case .own:
            try insertBefore(store)
            try store.change(in: context)
            store.expectChanges()
            try context.save()
            store.writer = context
        case .elsewhere:
            try insertBefore(store)
            let other = stack.anew()
            try store.change(in: other)
            store.expectChanges()
            try other.save()
            store.writer = other
        case .oneByOne:
            try insertBefore(store)
            let other = stack.anew()
            for (_, number, object) in try store.objects(in: other) {
                try store.set(store.changes(number), of: number, in: object)
                try other.save()
            }
            store.expectChanges()
            store.writer = other
        case .twice:
            try insertBefore(store)
            let other = stack.anew()
            for shift in 0..<(CombinedSample.isLong ? 4 : 3) {
                try store.change(in: other, shift: shift)
                store.expectChanges(shift: shift)
                try other.save()
            }
            store.writer = other
        case .child, .grandchild:
            try insertBefore(store)
            let middle = context.child(), inner = self == .child ? middle : middle.child()
            try store.change(in: inner)
            store.expectChanges()
            try inner.save()
            if inner !== middle { try middle.save() }
            try context.save()
            store.writer = context
        case .childInsertion:
            let child = context.child()
            try store.insert(\.before, into: child)
            try child.save()
            try context.save()
            try store.change(in: child)
            store.expectChanges()
            try child.save()
            try context.save()
            store.writer = context
        case .undone, .redone, .undoneBeforeSaving: try undo(store)
        case .mergedForStore, .mergedForObject, .overwritten, .rolledBack, .refused, .refreshedBeforeSaving, .followed: try merge(store)
        case .upsert, .upsertForStore, .upsertOverwriting, .upsertRolledBack, .upsertRefused: try upsert(store)
        case .batchDictionaries, .batchDictionaryHandler, .batchObjectHandler, .batchPartial, .batchUpsert, .batchUpsertOfChanges:
            try insertBatch(store)
        case .batchUpdate:
            try insertBefore(store)
            store.expectChanges()
            try updateBatches(store)
        case .batchExpression:
            try insertBefore(store)
            try moveByExpressions(store)
        }
    }

    func insertBefore(_ store: CombinedStore) throws {
        try store.insert(\.before, into: store.stack.context)
        try store.stack.context.save()
    }

    private func undo(_ store: CombinedStore) throws {
        try insertBefore(store)
        let stack = store.stack, context = stack.context
        context.undoManager = UndoManager()
        stack.manager.groupsByEvent = false
        try stack.group {
            try store.change(in: context)
            context.processPendingChanges()
        }
        if self != .undoneBeforeSaving { try context.save() }
        stack.manager.undo()
        context.processPendingChanges()
        if self == .redone {
            try context.save()
            stack.manager.redo()
            context.processPendingChanges()
            store.expectChanges()
        }
        try context.save()
        context.undoManager = nil
        store.writer = context
    }
}

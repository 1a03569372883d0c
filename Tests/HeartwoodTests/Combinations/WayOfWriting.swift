import Foundation
import Testing

@testable import Heartwood

/// How the objects of a sample come from what they have before to what they have after. Each way says beside it what they are to have.
///
/// HEARTWOOD_COMBINATIONS_WAYS=own,upsert in the environment goes those alone.
enum WayOfWriting: String, CaseIterable, CustomTestStringConvertible {
    /// A save of new objects: with all values, with those of the changes alone, with values that were set twice.
    case insertion, partialInsertion, insertionAfter
    /// A save of changed objects, where they were made and in another context; one object a save; one save after the other.
    case own, elsewhere, oneByOne, twice
    case child, childInsertion, grandchild
    case undone, redone, undoneBeforeSaving
    /// A save in conflict with another one, by each merge policy.
    case mergedForStore, mergedForObject, overwritten, rolledBack, refused
    /// A save of changes that were put on top of what the other one has saved: by a refresh, and by its notification.
    case refreshedBeforeSaving, followed
    /// Insertions of objects whose unique key is there already, by each merge policy.
    case upsert, upsertForStore, upsertOverwriting, upsertRolledBack, upsertRefused
    case batchDictionaries, batchDictionaryHandler, batchObjectHandler, batchPartial, batchUpsert, batchUpsertOfChanges, batchUpdate, batchExpression

    static let wanted: [WayOfWriting] = {
        let names = ProcessInfo.processInfo.environment["HEARTWOOD_COMBINATIONS_WAYS"]?.split(separator: ",").map(String.init)
        return allCases.filter { names?.contains($0.rawValue) ?? true }
    }()

    var testDescription: String { rawValue }

    var kinds: [StoreKind] {
        switch self {
        // A binary archive is written whole by each save, and batch requests are a record log's own.
        case .oneByOne, .batchDictionaries, .batchDictionaryHandler, .batchObjectHandler, .batchPartial, .batchUpsert, .batchUpsertOfChanges,
            .batchUpdate, .batchExpression:
            StoreKind.recordLogs.filter(StoreKind.allCases.contains)
        default: StoreKind.allCases
        }
    }

    func write(_ store: CombinedStore) throws {
        let stack = store.stack, context = stack.context
        switch self {
        case .insertion:
            try insertBefore(store)
            store.writer = context
        case .partialInsertion:
            // What must not be null has a default value.
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

import RecordLog

/// A step that undoes one change. It holds objects, not their keys, since a save gives inserted objects new keys.
enum UndoStep {
    /// An attribute had this value.
    case value(NSManagedObject, Int, PastValue)
    /// A to-one relationship had this destination.
    case destination(NSManagedObject, Int, NSManagedObject?)
    /// A to-many relationship whose other side is not to-one got a member.
    case added(NSManagedObject, Int, NSManagedObject)
    /// The same lost a member.
    case removed(NSManagedObject, Int, NSManagedObject)
    /// An ordered relationship had its members in this order.
    case order(NSManagedObject, Int, [NSManagedObject])
    /// An object was inserted into the context.
    case inserted(NSManagedObject)
    /// An object was deleted, or left the context because it had never been saved.
    case deleted(NSManagedObject, DeletedObjectState)
}

/// The former value of an attribute. If it was the row's, the row is kept undecoded, since most steps are never used. When a compaction replaces
/// the row's file, the step gets the row's new address.
enum PastValue {
    case changed(ManagedValue)
    case row(UnsafeRowView)
}

/// The state from which a deleted object is restored.
struct DeletedObjectState {
    let values: [ManagedValue]
    var row: UnsafeRowView?
    /// By property index: the destinations of every relationship.
    let destinations: [(index: Int, objects: [NSManagedObject])]
}

/// The steps of one event, in the order of the changes.
///
/// It leaves out to-many relationships whose inverse is to-one, and the other sides of pairs, since undoing a step keeps inverses consistent as any
/// change does. So it reads no large relationships, and stays consistent if another context has changed one of two sides meanwhile.
final class UndoJournal: @unchecked Sendable {
    // Unchecked: confined to the context's queue.

    private struct Slot: Hashable {
        let object: ObjectIdentifier
        let index: Int
    }

    private(set) var steps: [UndoStep] = []
    private var known: Set<Slot> = []

    var isEmpty: Bool { steps.isEmpty }

    /// Whether a property has no step yet. The first step of an event has its former value, so later ones are not kept.
    func isFirst(_ object: NSManagedObject, _ index: Int) -> Bool {
        !known.contains(Slot(object: ObjectIdentifier(object), index: index))
    }

    func append(_ step: UndoStep) {
        switch step {
        case .value(let object, let index, _), .destination(let object, let index, _), .order(let object, let index, _):
            known.insert(Slot(object: ObjectIdentifier(object), index: index))
        case .added, .removed, .inserted, .deleted: break
        }
        steps.append(step)
    }

    /// Moves row references to new addresses.
    func moveRows(_ move: (UnsafeRowView, NSManagedObject) -> UnsafeRowView) {
        for index in steps.indices {
            switch steps[index] {
            case .value(let object, let property, .row(let row)):
                steps[index] = .value(object, property, .row(move(row, object)))
            case .deleted(let object, var remains):
                remains.row = remains.row.map { move($0, object) }
                steps[index] = .deleted(object, remains)
            default: break
            }
        }
    }
}

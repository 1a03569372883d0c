import Foundation

#if !canImport(ObjectiveC)
    /// A place for a value, as `validateValue(_:forKey:)` gets it; the type of this name that Swift has where there is Objective-C.
    ///
    /// Valid during the call that it was handed to.
    public struct AutoreleasingUnsafeMutablePointer<Pointee> {
        let slot: ValueSlot<Pointee>

        /// The value; setting it replaces the value.
        public var pointee: Pointee {
            get { slot.value }
            nonmutating set { slot.value = newValue }
        }
    }
#endif

/// A value that is being validated.
class ValueSlot<Pointee> {
    var value: Pointee

    init(_ value: Pointee) {
        self.value = value
    }

    /// This, where it is the value of an object's property.
    var property: PropertySlot? { nil }
}

/// The present value of one property after another of an object that is being validated: made into an object only if it is
/// asked for.
final class PropertySlot: ValueSlot<AnyObject?> {
    let owner: NSManagedObject
    /// The property.
    private(set) var index = 0
    private(set) var isReplaced = false
    private var replacement: AnyObject?

    init(owner: NSManagedObject) {
        self.owner = owner
        super.init(nil)
    }

    override var value: AnyObject? {
        get { isReplaced ? replacement : owner.value(at: index).map { AttributeCoding.bridged($0) } }
        set {
            isReplaced = true
            replacement = newValue
        }
    }

    override var property: PropertySlot? { self }

    /// Goes on to another property of the same object.
    func move(to index: Int) {
        self.index = index
        guard isReplaced else { return }
        isReplaced = false
        replacement = nil
    }
}

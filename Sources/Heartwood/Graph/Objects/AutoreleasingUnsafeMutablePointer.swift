import Foundation

#if !canImport(ObjectiveC)
    /// A reference to a value, which `validateValue(_:forKey:)` takes. It stands for Swift's type of this name, which exists only with Objective-C.
    ///
    /// Valid during the call that received it.
    public struct AutoreleasingUnsafeMutablePointer<Pointee> {
        let slot: ValueSlot<Pointee>

        init(slot: ValueSlot<Pointee>) {
            self.slot = slot
        }

        /// A reference to a copy of a variable's value, as in `AutoreleasingUnsafeMutablePointer(&value)`.
        ///
        /// Swift lends a variable for the call of the initializer only, so `pointee` has what a validation wrote; the variable keeps its value.
        /// - Precondition: the value is a `Pointee`.
        public init<Value>(_ variable: UnsafeMutablePointer<Value>) {
            guard let value = variable.pointee as? Pointee else {
                preconditionFailure("A pointer to \(Pointee.self) was made of a variable of type \(Value.self), whose value is none.")
            }
            slot = ValueSlot(value)
        }

        /// The value. The setter replaces it.
        public var pointee: Pointee {
            get { slot.value }
            nonmutating set { slot.value = newValue }
        }
    }
#endif

/// A value under validation.
class ValueSlot<Pointee> {
    var value: Pointee

    init(_ value: Pointee) {
        self.value = value
    }

    /// Itself, if the value is an object's property.
    var property: PropertySlot? { nil }
}

/// The current value of a property of an object under validation. It visits one property after another, and makes a value into an object only when
/// it is read.
final class PropertySlot: ValueSlot<AnyObject?> {
    let owner: NSManagedObject
    /// The property's index.
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

    /// Moves to another property of the same object.
    func move(to index: Int) {
        self.index = index
        guard isReplaced else { return }
        isReplaced = false
        replacement = nil
    }
}

import Foundation
import RecordLog

/// Reads and writes by property index. All other access uses these functions.
extension NSManagedObject {
    /// The current value of a property, in the store's representation.
    final func managedValue(_ index: Int) -> ManagedValue {
        if let value = override(index) { return value }
        fireFault()
        return lateOverride(index) ?? committedValue(index)
    }

    /// The value that `awakeFromFetch()` set, if the fault has just fired.
    @inline(__always)
    final func lateOverride(_ index: Int) -> ManagedValue? { storage == nil ? nil : override(index) }

    /// The value in the row.
    final func committedValue(_ index: Int) -> ManagedValue {
        row.map { committedValue(index, in: $0) } ?? inheritedValue(index)
    }

    /// The value in a given row of this object, of any version.
    final func committedValue(_ index: Int, in row: UnsafeRowView) -> ManagedValue {
        guard let access = access(index, in: row) else { return unstored(index) }
        if runtime.properties[index].kind == .externalData { return externalData(index, access, of: row) }
        return ManagedValue(row: row, access: access, kind: runtime.properties[index].kind, slotBase: slotBase)
    }

    /// The value of a property that its row does not have: a transient attribute's default, or null.
    @inline(__always)
    final func unstored(_ index: Int) -> ManagedValue {
        runtime.hasTransients && runtime.properties[index].isTransient ? runtime.properties[index].initial : .null
    }

    private func externalData(_ index: Int, _ access: ColumnAccess, of row: UnsafeRowView) -> ManagedValue {
        guard let context = managedObjectContext, let data = context.externalData(index, access, of: row, in: runtime) else { return .null }
        return .data(data)
    }

    /// The position of a property in `row`; nil if the row's layout has no such column, or the value is null.
    @inline(__always)
    final func access(_ index: Int, in row: UnsafeRowView) -> ColumnAccess? { runtime.access(index, in: row) }

    /// Added to a row reference's bits, this makes the key of the same object in the coordinator.
    @inline(__always)
    final var slotBase: UInt64 { runtime.slotBase }

    /// The changed value, if there is one.
    @inline(__always)
    final func override(_ index: Int) -> ManagedValue? {
        // The check of an unchanged object happens where its row is read.
        guard storage != nil else { return nil }
        if !state.isDisjoint(with: .attended) { attend(index) }
        guard let storage, !storage.values.isEmpty else { return nil }
        let value = storage.values[index]
        return value.isUnset ? nil : value
    }

    /// The checks before a read of a value outside the row: a refreshed insertion is a fault until then.
    @inline(never)
    private final func attend(_ index: Int) {
        checkQueue("a property", index)
        if state.contains(.inserted), rowBody == nil { state.remove(.fault) }
    }

    /// Writes a property without touching inverses.
    final func setManagedValue(_ value: ManagedValue, at index: Int) {
        if !state.isDisjoint(with: .guarded) { prepareToWrite(index) }
        unretainedStorage()._withUnsafeGuaranteedRef { storage in
            if storage.observesSetters { storage.setterWillRun(index) }
            storage.values[index] = value
        }
        noteChange()
    }

    /// The storage, with room for values.
    final func changeStorage() -> ObjectStorage { unretainedStorage().takeUnretainedValue() }

    /// The same, unretained: the object holds it, and a written value takes no reference count.
    @inline(__always)
    private final func unretainedStorage() -> Unmanaged<ObjectStorage> {
        if let storage, !storage.values.isEmpty { return .passUnretained(storage) }
        return makeStorage()
    }

    @inline(never)
    private final func makeStorage() -> Unmanaged<ObjectStorage> {
        let storage = ownStorage()
        storage.values = [ManagedValue](repeating: .unset, count: runtime.properties.count)
        return .passUnretained(storage)
    }

    /// Forgets the unsaved values, and the note that the next save writes all of them.
    final func dropValues() {
        guard let storage else { return }
        storage.values = []
        storage.isRevived = false
        storage.silent = []
    }

    /// Notes in the context that the object differs from the store.
    @inline(__always)
    final func noteChange() {
        if ChangeEvents.areObserved, state.isDisjoint(with: [.waking, .detached]) { managedObjectContext?.noteEvent(.updated, self) }
        let known = state.intersection([.inserted, .updated, .detached, .processed, .waking, .shown])
        guard known.isEmpty || !known.isDisjoint(with: [.processed, .shown]) else { return }
        managedObjectContext?.noteUpdate(of: self)
    }

    // MARK: Typed access

    /// The integer (of any width), or the boolean as 0 or 1, at a property index; nil for null.
    ///
    /// Generated accessors call this. A property's index is its position in its entity's property list. O(1); decodes only this attribute, and
    /// allocates nothing.
    @_spi(GeneratedCode) public final func managedInteger(at index: Int) -> Int64? {
        if let value = override(index) { return value.integer }
        guard let row else { return inheritedValue(index).integer }
        if let value = lateOverride(index) { return value.integer }
        guard let access = access(index, in: row) else { return unstored(index).integer }
        return row.int64(access)
    }

    @_spi(GeneratedCode) public final func managedBool(at index: Int) -> Bool? {
        managedInteger(at: index).map { $0 != 0 }
    }

    /// The double or float at a property index; nil for null. O(1).
    @_spi(GeneratedCode) public final func managedDouble(at index: Int) -> Double? {
        if let value = override(index) { return value.double }
        guard let row else { return inheritedValue(index).double }
        if let value = lateOverride(index) { return value.double }
        guard let access = access(index, in: row) else { return unstored(index).double }
        return row.double(access)
    }

    /// The date at a property index; nil for null. O(1).
    @_spi(GeneratedCode) public final func managedDate(at index: Int) -> Date? {
        managedDouble(at: index).map(Date.init(timeIntervalSinceReferenceDate:))
    }

    /// The string at a property index; nil for null. O(length): the bytes are copied into a String.
    @_spi(GeneratedCode) public final func managedString(at index: Int) -> String? {
        if let value = override(index) { return value.text }
        guard let row else { return inheritedValue(index).text }
        if let value = lateOverride(index) { return value.text }
        guard let access = access(index, in: row) else { return unstored(index).text }
        return String(stored: row.bytes(access))
    }

    /// The value of any attribute at a property index, as key-value coding returns it; nil for null.
    @_spi(GeneratedCode) public final func managedAttribute(at index: Int) -> Any? { value(at: index) }

    /// Writes an integer; nil writes null. The next save refuses one that is too wide for the attribute.
    @_spi(GeneratedCode) public final func setManagedInteger(_ value: Int64?, at index: Int) {
        guard let value else { return setManagedValue(.null, at: index) }
        switch runtime.properties[index].kind {
        case .bool: setManagedValue(.bool(value != 0), at: index)
        case .int16: setNarrowInteger(value, fits: Int16(exactly: value) != nil, at: index)
        case .int32: setNarrowInteger(value, fits: Int32(exactly: value) != nil, at: index)
        default: setManagedValue(.integer(value), at: index)
        }
    }

    @inline(never)
    private func setNarrowInteger(_ value: Int64, fits: Bool, at index: Int) {
        if fits { setManagedValue(.integer(value), at: index) } else { setModelledValue(value, at: index) }
    }

    @_spi(GeneratedCode) public final func setManagedDouble(_ value: Double?, at index: Int) {
        setManagedValue(value.map(ManagedValue.double) ?? .null, at: index)
    }

    @_spi(GeneratedCode) public final func setManagedDate(_ value: Date?, at index: Int) {
        setManagedValue(value.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null, at: index)
    }

    @_spi(GeneratedCode) public final func setManagedString(_ value: String?, at index: Int) {
        setManagedValue(value.map(ManagedValue.text) ?? .null, at: index)
    }

    /// Writes any attribute; nil writes null.
    /// - Precondition: the value's type is the attribute's.
    @_spi(GeneratedCode) public final func setManagedAttribute(_ value: Any?, at index: Int) {
        let property = runtime.properties[index]
        demand(fetchedProperty(index) == nil, fetchedRefusal(property.name))
        if property.elements != nil { return setModelledValue(value, at: index) }
        guard let converted = converted(value, property.kind, takesUnfit: true) else {
            misuse(AttributeCoding.mismatch(value, property.name, property.kind, entity: entity))
        }
        setManagedValue(converted, at: index)
    }
}

extension Transaction {
    /// Writes a value for a `value` column, in pieces as they come: memory stays within a few MiB however long it is.
    ///
    /// Up to 4 KiB it goes into the row itself; a longer one into frames of its own in this commit, so that changes of other
    /// columns do not write it again. One that no row takes is dead bytes until the next compaction.
    /// - Throws: what `body` throws, and then nothing refers to what was written; as `ValueWriter.append`.
    /// - Returns: what `RowBuilder.set(_:value:)` takes, for one column of one row of this transaction.
    public func writeValue(_ body: (ValueWriter) throws -> Void) throws -> LargeValue {
        let writer = ValueWriter(appender: appender)
        do {
            try body(writer)
        } catch {
            writer.close()
            throw error
        }
        return own(try writer.finish())
    }

    /// The same for a value that is in memory.
    public func writeValue(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> LargeValue {
        let writer = ValueWriter(appender: appender)
        try writer.append(bytes)
        return own(try writer.finish())
    }

    /// The value in a column of a row as `row` gave it; nil for null, and for a column of another type. Valid until the next change.
    /// - Throws: `corrupt` where the row does not lead to a value; as writing does, since a value of this transaction is written
    ///   to the file before it is read.
    public func value(_ access: ColumnAccess, of row: RowView) throws(StoreError) -> ValueReader? {
        guard access.type == .value, !row.isNull(access) else { return nil }
        guard let reference = ValueReference(row.bytes(access)) else { return try ValueReader(row.bytes(access), in: base.file) }
        // The row itself may be in the memory that is written.
        if reference.pointer.offset >= appender.writtenEnd { try appender.flushRows() }
        return try ValueReader(.reference(reference), in: base.file)
    }

    /// Lets one row take a value that was written by this transaction's appender.
    @discardableResult
    func own(_ value: LargeValue) -> LargeValue {
        if let reference = value.stored.withUnsafeBytes({ ValueReference($0) }) { unusedValues.insert(reference) }
        return value
    }

    /// Checks that a row refers to values of this transaction that no row has yet, or to those that it had: a value is one
    /// row's, so that live bytes are counted once, and a reference that was read from another file or row leads nowhere.
    func takeValues(of new: RowView, _ layout: RowLayout, old: RowView?, _ oldLayout: RowLayout?) throws(StoreError) {
        var taken: Set<ValueReference> = []
        for position in layout.valuePositions where !new.isNull(layout.access[position]) {
            let bytes = new.bytes(layout.access[position])
            guard let stored = StoredValue(bytes) else { throw foreignValue("a row has a value that is none") }
            guard case .reference(let reference) = stored else { continue }
            if let old, let oldLayout, let index = oldLayout.position(of: layout.columns[position].id) {
                let access = oldLayout.access[index]
                if access.type == .value, !old.isNull(access), KeyBytes.compare(old.bytes(access), bytes) == 0 { continue }
            }
            guard unusedValues.contains(reference), taken.insert(reference).inserted else {
                throw foreignValue("a row refers to a value that is not its own")
            }
        }
        unusedValues.subtract(taken)
    }

    private func foreignValue(_ message: String) -> StoreError {
        StoreError(
            .invalidArgument, path: base.file.path, message,
            remedy: "Make a value with writeValue for each row that has it; where it stays, copy the row that transaction.row gives.")
    }
}

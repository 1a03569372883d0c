extension Transaction {
    /// Writes a value for a `value` column, piece by piece: memory stays within a few MiB for any length.
    ///
    /// A value of up to 4 KiB is stored in the row itself. A longer one gets frames of its own in this commit, so that changes of other
    /// columns do not write it again. A value that no row takes is dead bytes until the next compaction.
    /// - Throws: the error of `body`, and then nothing refers to the bytes written; as `ValueWriter.append`.
    /// - Returns: the argument for `RowBuilder.set(_:value:)`, for one column of one row of this transaction.
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

    /// Writes a value that is in memory.
    public func writeValue(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> LargeValue {
        let writer = ValueWriter(appender: appender)
        try writer.append(bytes)
        return own(try writer.finish())
    }

    /// The value in a column of a row that `unsafeRow` returned; nil for null, and for a column of another type. Valid until the next change.
    /// - Throws: `corrupt` if the row does not lead to a value. Also the errors of writing, since a value of this transaction is written to
    ///   the file before it is read.
    public func value(_ access: ColumnAccess, of row: UnsafeRowView) throws(StoreError) -> ValueReader? {
        guard access.type == .value, !row.isNull(access) else { return nil }
        guard let reference = ValueReference(row.bytes(access)) else { return try ValueReader(row.bytes(access), in: base.file) }
        // The row itself may be in the memory that is written.
        if reference.pointer.offset >= appender.writtenEnd { try appender.flushRows() }
        return try ValueReader(.reference(reference), in: base.file)
    }

    /// Writes the values to the file that a row has in frames of this transaction, so that they can be read from there.
    package func flushValues(of row: UnsafeRowView, _ layout: RowLayout) throws(StoreError) {
        for position in layout.valuePositions where !row.isNull(layout.access[position]) {
            let reference = ValueReference(row.bytes(layout.access[position]))
            guard let reference, reference.pointer.offset >= appender.writtenEnd else { continue }
            // The row itself may be in the memory that is written.
            return try appender.flushRows()
        }
    }

    /// Lets one row take a value that this transaction's appender has written.
    @discardableResult
    func own(_ value: LargeValue) -> LargeValue {
        if let reference = value.stored.withUnsafeBytes({ ValueReference($0) }) { unusedValues.insert(reference) }
        return value
    }

    /// Checks that a row refers only to values of this transaction that no row has taken, or to its own earlier values. A value belongs to
    /// one row, so that live bytes are counted once. A reference that was read from another file or row is refused.
    func takeValues(of new: UnsafeRowView, _ layout: RowLayout, old: UnsafeRowView?, _ oldLayout: RowLayout?) throws(StoreError) {
        var taken: Set<ValueReference> = []
        for position in layout.valuePositions where !new.isNull(layout.access[position]) {
            let bytes = new.bytes(layout.access[position])
            guard let stored = StoredValue(bytes) else { throw foreignValue("a row has bytes in a column of values that are no value") }
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

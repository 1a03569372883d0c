import Foundation
import RecordLog

extension Data {
    /// Copies a whole value out of its store.
    /// - Throws: `corrupt`, before memory is allocated, where a part of the value is damaged.
    init(_ value: ValueReader) throws(StoreError) {
        try value.verify()
        self.init(count: value.count)
        let result = withUnsafeMutableBytes { bytes in Result { () throws(StoreError) in try value.read(into: bytes) } }
        _ = try result.get()
    }
}

extension Transaction {
    /// Writes binary data, outside the row where they are long.
    func writeValue(_ data: Data) throws(StoreError) -> LargeValue {
        let result = data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try writeValue(bytes) } }
        return try result.get()
    }
}

extension Transaction {
    /// Encodes an attribute's value into a row. Writes the data of an external column first. The caller encodes references.
    func encode(_ value: ManagedValue, into builder: RowBuilder, at position: Int, of layout: RowLayout) throws {
        guard case .data(let data) = value, layout.columns[position].type == .value else {
            return try value.encode(into: builder, at: position)
        }
        builder.set(position, value: try writeValue(data))
    }
}

extension ValueReader {
    func isEqual(to data: Data) throws(StoreError) -> Bool {
        let result = data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try elementsEqual(bytes) } }
        return try result.get()
    }
}

/// Compares a column of external data with constants. Lengths are compared first, so few values are read.
final class ExternalDataFilter: ColumnFilter {
    let constants: [Data]
    let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: [Data], isNegated: Bool = false) {
        self.constants = constants
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row), let value = try scope.view.snapshot.value(access, of: row) else { return isNegated }
        return try constants.contains { try value.isEqual(to: $0) } != isNegated
    }
}

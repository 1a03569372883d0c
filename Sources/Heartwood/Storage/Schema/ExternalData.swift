import Foundation
import RecordLog

extension Data {
    /// A whole value, copied out of its store.
    /// - Throws: `corrupt`, before any room is made, where a part of it is damaged.
    init(_ value: ValueReader) throws(StoreError) {
        try value.verify()
        self.init(count: value.count)
        let result = withUnsafeMutableBytes { bytes in Result { () throws(StoreError) in try value.read(into: bytes) } }
        _ = try result.get()
    }
}

extension Transaction {
    /// Writes binary data that is kept outside its row where it is long.
    func writeValue(_ data: Data) throws(StoreError) -> LargeValue {
        let result = data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try writeValue(bytes) } }
        return try result.get()
    }
}

extension Transaction {
    /// Writes an attribute's value into a row being built, and data outside it where its column says so. References are the caller's.
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

/// A column of external data against constants. Lengths are compared first, so that few values are read.
final class ExternalDataTest: ColumnTest {
    let constants: [Data]
    let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: [Data], isNegated: Bool = false) {
        self.constants = constants
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row), let value = try scope.view.snapshot.value(access, of: row) else { return isNegated }
        return try constants.contains { try value.isEqual(to: $0) } != isNegated
    }
}

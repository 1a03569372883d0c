import Foundation
import RecordLog

/// The rows of one state of a store.
package protocol RowView: AnyObject {
    /// The file that contains this view's rows; nil where a store answers requests.
    var file: LogFile? { get }

    // These two have no default: a view that hands out rows of memory which it does not keep leaves objects that point at freed memory.

    /// Makes `memory` hold the memory of this view's rows: its file, or what has their copies.
    func keepRows(in memory: inout RowMemory)

    /// Returns a row of another view of this store in memory that this view keeps. The caller keeps the files of the other view, and nothing else of
    /// it, so a view without a file returns a copy of its own.
    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView

    func row(_ key: ObjectKey) throws -> UnsafeRowView?

    /// Returns the row at one of its versions, this view's or an earlier one; nil where the store no longer has it.
    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView?

    /// Returns the row of an object that shows a version of it: that version, or the newest one where the store no longer has it. A view that
    /// asks a server looks among the rows that it has.
    func shownRow(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView?

    /// Calls `body` with each key and its row.
    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws

    /// Returns binary data of any length that the row itself contains; nil where the row contains only their location.
    /// - Throws: where the row names a file that cannot be read.
    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) throws -> Data?

    /// The version that a conflict shows for a row's, where a view has given the row one of its own.
    func shownVersion(_ version: UInt32, of key: ObjectKey) throws -> UInt32
}

extension RowView {
    package var file: LogFile? { nil }

    package func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        for key in keys { try body(key, try row(key)) }
    }

    package func shownRow(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? {
        let newest = try row(key)
        guard newest?.version != version else { return newest }
        return try row(key, version: version) ?? newest
    }

    package func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) -> Data? { nil }

    package func shownVersion(_ version: UInt32, of key: ObjectKey) -> UInt32 { version }
}

import Foundation
import RecordLog

/// A view of one commit of a record log.
package final class RecordLogView: StoreView {
    package let snapshot: Snapshot
    package let schema: RecordLogSchema
    let slotBase: UInt64
    private let log: LogStore
    /// The log's publication count from before the snapshot was taken.
    private let publication: UInt64

    /// A view of the log's newest commit.
    convenience init(of log: LogStore, schema: RecordLogSchema, slotBase: UInt64) {
        let publication = log.publications
        self.init(snapshot: log.snapshot(), of: log, publication: publication, schema: schema, slotBase: slotBase)
    }

    /// - Parameter publication: 0 for a commit that may be an older one.
    init(snapshot: Snapshot, of log: LogStore, publication: UInt64 = 0, schema: RecordLogSchema, slotBase: UInt64) {
        self.snapshot = snapshot
        self.log = log
        self.publication = publication
        self.schema = schema
        self.slotBase = slotBase
    }

    package var file: LogFile? { snapshot.file }
    package var isNewest: Bool { log.publications == publication }
    /// Whether the log's handle has seen all commits of other handles.
    var isUpToDate: Bool { log.isUpToDate(snapshot) }

    package func keepRows(in memory: inout RowMemory) { memory.add(snapshot.file) }

    /// The row lies in a file.
    package func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView { row }

    @inline(__always)
    func reference(_ key: ObjectKey) -> RowReference {
        RowReference(rawValue: key.rawValue &- slotBase)
    }

    @inline(__always)
    func key(_ reference: RowReference) -> ObjectKey {
        ObjectKey(rawValue: reference.rawValue &+ slotBase)
    }

    package func row(_ key: ObjectKey) throws -> UnsafeRowView? {
        do {
            return try snapshot.unsafeRow(reference(key))
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? {
        do {
            return try snapshot.unsafeRow(reference(key), version: version)
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] {
        guard let source = source(of: key, property: property) else { return [] }
        do {
            var result: [ObjectKey] = []
            try forEachMember(of: reference(key), in: source) { reference in
                result.append(self.key(reference))
                return true
            }
            return result
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        let references = keys.map(reference)
        do {
            try references.withUnsafeBufferPointer { references in
                try snapshot.rows(references) { index, row in try body(keys[index], row) }
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        guard let first = keys.first, let source = source(of: first, property: property) else { return keys.map { _ in [] } }
        do {
            return try members(ofEach: keys.map(reference), in: source).map { $0.map(key) }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func firstMember(
        of key: ObjectKey, runtime: EntityRuntime, property: Int, where isIncluded: (ObjectKey) -> Bool
    ) throws -> ObjectKey? {
        guard let source = source(of: key, property: property) else { return nil }
        do {
            var found: ObjectKey?
            try forEachMember(of: reference(key), in: source) { reference in
                let member = self.key(reference)
                if isIncluded(member) { found = member }
                return found == nil
            }
            return found
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool {
        do {
            switch source(of: key, property: property) {
            case .link(let link, isForward: true)?: return try link.row(from: reference(key), to: reference(member), snapshot) != nil
            case .link(let link, isForward: false)?: return try link.row(from: reference(member), to: reference(key), snapshot) != nil
            case .inverse(let tables)?:
                let member = reference(member)
                guard let inverse = runtime.properties[property].inverse, tables.contains(where: { $0.table == member.table }),
                    let row = try snapshot.unsafeRow(member), let access = schema.table(member.table)?.runtime.access(inverse, in: row)
                else { return false }
                return row.reference(access) == reference(key)
            case nil: return false
            }
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int {
        guard let source = source(of: key, property: property) else { return 0 }
        do {
            return try memberCount(of: reference(key), in: source)
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    package var logView: RecordLogView? { self }
    package var commit: UInt64? { snapshot.sequence }

    private func source(of key: ObjectKey, property: Int) -> MemberSource? {
        guard let members = schema.table(reference(key).table)?.members, members.indices.contains(property) else { return nil }
        return members[property]
    }

    func forEachMember(
        of owner: RowReference, in source: MemberSource, _ body: (RowReference) throws -> Bool
    ) throws { try snapshot.forEachMember(of: owner, in: source, body) }

    func memberCount(of owner: RowReference, in source: MemberSource) throws -> Int { try snapshot.memberCount(of: owner, in: source) }

    static func range(of owner: RowReference) -> KeyRange {
        let key = KeyBuilder()
        key.append(reference: owner)
        return .prefix(key.bytes)
    }

    package static func lastReference(of key: UnsafeRawBufferPointer) -> RowReference? {
        guard key.count >= 8 else { return nil }
        return RowReference(rawValue: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self)))
    }
}

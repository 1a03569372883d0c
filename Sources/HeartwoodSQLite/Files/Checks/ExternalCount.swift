import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Counts the values of attributes that may lie in files of their own.
struct ExternalCount {
    private let store: ExaminedStore
    private var inlineValues = 0, inlineBytes: UInt64 = 0, fileValues = 0, untagged = 0
    private var names: Set<String> = []

    init(_ store: ExaminedStore) { self.store = store }

    /// - Returns: nil if no attribute allows such values.
    mutating func counted() throws -> CoreDataInspection.External? {
        var isAllowed = false
        for (name, entities) in store.tables {
            let table = try store.file.table(named: name)
            guard let entityColumn = table.index(ofColumn: "Z_ENT") else { continue }
            let columns = Dictionary(entities.map { ($0.number, Self.columns(of: $0, table)) }) { first, _ in first }.filter { !$0.value.isEmpty }
            guard !columns.isEmpty else { continue }
            isAllowed = true
            try table.forEachRow { row in
                for column in try row.integer(entityColumn).flatMap({ columns[$0] }) ?? [] {
                    if let bytes = try row.blob(column) { add(bytes) } else if try !row.isNull(column) { untagged += 1 }
                }
                return true
            }
        }
        return isAllowed ? summary() : nil
    }

    /// The columns of an entity's attributes that allow values in files.
    static func columns(of entity: CoreDataLayout.Entity, _ table: SQLiteTable) -> [Int] {
        entity.places.enumerated().compactMap { index, place in
            guard case .column(let name)? = place, let attribute = entity.entity.propertiesByIndex[index] as? NSAttributeDescription,
                attribute.allowsExternalBinaryDataStorage
            else { return nil }
            return table.index(ofColumn: name)
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        switch ExternalValue(bytes) {
        case .inline(let value)?:
            inlineValues += 1
            inlineBytes += UInt64(value.count)
        case .file(let name)?:
            fileValues += 1
            names.insert(name)
        case nil: untagged += 1
        }
    }

    private func summary() -> CoreDataInspection.External {
        let directory = ExternalValue.directory(of: store.file.path)
        let present = Set((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
        var bytes: UInt64 = 0
        for name in names.intersection(present) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: directory.appendingPathComponent(name).path)
            bytes += (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
        }
        return CoreDataInspection.External(
            directory: directory.path, inlineValues: inlineValues, inlineBytes: inlineBytes, fileValues: fileValues, fileBytes: bytes,
            missing: names.subtracting(present).sorted(), untagged: untagged, unnamed: present.subtracting(names).count)
    }
}

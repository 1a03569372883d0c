// The engine without objects: a table with an index, rows, and a value that streams and is never in memory whole.
import Foundation
import RecordLog

let path = FileManager.default.temporaryDirectory.appendingPathComponent("films-\(UUID()).heartwood").path
let store = try LogStore.open(path: path)

// One commit: the table, its index and a row. A value goes in piece by piece.
let byYear = try store.write(author: "importer") { transaction in
    let films = try transaction.defineTable(name: "films", columns: [("title", .text), ("year", .int32), ("frames", .value)])
    let year = films.currentLayout.columns[1]
    let byYear = try transaction.defineIndex(named: "byYear", on: films.id, parts: [IndexPart(column: year.id, ascending: true)])
    let row = RowBuilder()
    row.begin(films.currentLayout)
    row.set(0, text: "The Log")
    row.set(1, int64: 1926)
    row.set(2, value: try transaction.writeValue { writer in
        for second in 0..<60 { try [UInt8](repeating: UInt8(second), count: 100_000).withUnsafeBytes { try writer.append($0) } }
    })
    try transaction.put(RowReference(table: films.id, row: try transaction.newRow(in: films.id)), body: row.unsafeBody())
    return byYear
}

// A snapshot is one state of the store, also while others write.
let snapshot = store.snapshot()
let layout = snapshot.catalog.table(named: "films")!.currentLayout
let key = KeyBuilder()
key.append(int64: 1926)
var bytes = 0
try snapshot.rows(byYear, .prefix(key.bytes)) { row in
    print(String(decoding: row.bytes(layout.access[0]), as: UTF8.self), row.int64(layout.access[1]))
    try snapshot.value(layout.access[2], of: row)?.forEachChunk { chunk in
        bytes += chunk.count
        return true
    }
    return true
}
precondition(bytes == 6_000_000)
try store.close()
try FileManager.default.removeItem(atPath: path)

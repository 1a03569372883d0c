// The engine without objects: a table with an index, rows, and a value that streams and is never in memory whole.
import Foundation
import RecordLog
import RecordLogRows

let path = FileManager.default.temporaryDirectory.appendingPathComponent("films-\(UUID()).heartwood").path
let store = try LogStore.open(path: path)

// One commit: the table and its index.
let films = try store.write(author: "importer") { transaction in
    let films = try transaction.defineTable(name: "films", columns: [("title", .text), ("year", .int32), ("frames", .value)])
    let year = try films.column("year", as: Int.self)
    _ = try transaction.defineIndex(named: "byYear", on: films.id, parts: [year.ascending])
    return films
}
let title = try films.column("title", as: String.self), year = try films.column("year", as: Int?.self)
let frames = try films.largeColumn("frames")

// Another: a row. Its value goes in piece by piece.
try store.write { transaction in
    let value = try transaction.writeValue { writer in
        for second in 0..<60 { try writer.append([UInt8](repeating: UInt8(second), count: 100_000)) }
    }
    try transaction.insert(into: films) { film in
        try film.set(title, to: "The Log")
        try film.set(year, to: 1926)
        try film.set(frames, to: value)
    }
}

// A snapshot is one state of the store, also while others write.
let snapshot = store.snapshot()
var found = try snapshot.index(named: "byYear", on: films).equal(to: 1926).rows()
var bytes = 0
while let film = try found.next() {
    print(try film[title], try film[year] ?? 0)
    try film.value(of: frames)?.forEachChunk { chunk in
        bytes += chunk.count
        return true
    }
}
precondition(bytes == 6_000_000)
try store.close()
try FileManager.default.removeItem(atPath: path)

import Foundation
import RecordLog
import RecordLogRows

let path = FileManager.default.temporaryDirectory.appendingPathComponent("films-\(UUID()).log").path
let store = try LogStore.open(path: path)
let films = try store.write { transaction in
    let films = try transaction.defineTable(name: "films", columns: [("title", .text), ("year", .int32), ("still", .value)])
    let year = try films.column("year", as: Int.self), title = try films.column("title", as: String.self)
    _ = try transaction.defineIndex(named: "byYear", on: films.id, parts: [year.descending, title.ascending])
    return films
}
let title = try films.column("title", as: String.self), year = try films.column("year", as: Int?.self)
let still = try films.largeColumn("still")
let metropolis = try store.write(author: "guide") { transaction in
    for (name, made) in [("The General", 1926), ("Sunrise", 1927), ("Wings", 1927)] {
        try transaction.insert(into: films) { film in
            try film.set(title, to: name)
            try film.set(year, to: made)
        }
    }
    return try transaction.insert(into: films) { try $0.set(title, to: "Metropolis") }
}

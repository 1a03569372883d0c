// Jokes: a container of the program's own, and a store that inserts, fetches, updates and deletes by UUID.
import CoreData

let place = FileManager.default.temporaryDirectory.appendingPathComponent("Jokes-\(UUID().uuidString).heartwood")
defer { try? FileManager.default.removeItem(at: place) }

func show(_ heading: String, _ jokes: [Joke]) {
    print("\(heading):")
    for joke in jokes.sorted(by: { $0.setup ?? "" < $1.setup ?? "" }) { print("  \(joke.setup ?? "") \(joke.punchline ?? "")") }
}

let store = JokeStore(url: place)
let logs = store.insert(setup: "A log walks into a bar.", punchline: "It appends.")
let sticks = store.insert(setup: "What is brown and sticky?", punchline: "A stick.")
_ = store.insert(setup: "Two tables meet.", punchline: "Do they join?")
show("Told", store.fetchAll())

store.update(id: logs, punchline: "It commits.")
store.delete(id: sticks)

// Another program would find the same.
let later = JokeStore(url: place)
show("Told again", later.fetchAll())
precondition(later.fetchAll().count == 2 && later.fetch(id: sticks) == nil)
precondition(later.fetch(id: logs)?.punchline == "It commits.")

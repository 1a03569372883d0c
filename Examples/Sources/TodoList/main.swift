// A to-do list: a manager that the whole program shares; create, read by date, update and delete what a date finds.
import CoreData

let manager = ToDoManager.shared
let monday = Date(timeIntervalSinceReferenceDate: 0), day = 86_400.0

func show(_ heading: String) -> [String] {
    let lines = manager.readToDos().map { "\($0.isDone ? "[x]" : "[ ]") \($0.title ?? "")" }
    print("\(heading):", lines.map { "  " + $0 }.joined(separator: "\n"), separator: "\n")
    return lines
}

manager.saveToDo(title: "Stack the logs", date: monday + 2 * day)
manager.saveToDo(title: "Sharpen the axe", date: monday)
manager.saveToDo(title: "Fell the tree", date: monday + day)
let planned = show("To do")
precondition(planned == ["[ ] Sharpen the axe", "[ ] Fell the tree", "[ ] Stack the logs"])

// The model wants a title of one letter at least.
let refused = !manager.saveToDo(title: "", date: monday)
precondition(refused && manager.readToDos().count == 3)

let first = manager.readToDos()[0]
first.isDone = true
manager.updateToDo(first)
let begun = show("On Monday evening")
precondition(begun == ["[x] Sharpen the axe", "[ ] Fell the tree", "[ ] Stack the logs"])

manager.deleteToDo(first)
let left = show("Left")
precondition(left == ["[ ] Fell the tree", "[ ] Stack the logs"])
if let place = manager.container.persistentStoreDescriptions.first?.url { try FileManager.default.removeItem(at: place) }

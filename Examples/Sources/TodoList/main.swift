// A to-do list: a manager that the whole program shares; create, read by date, update by predicate, delete.
import Foundation
import Heartwood

let manager = TodoManager.shared
let monday = Date(timeIntervalSinceReferenceDate: 0), day = 86_400.0

@MainActor
func show(_ heading: String) throws -> [String] {
    let lines = try manager.items().map { "\($0.isDone ? "[x]" : "[ ]") \($0.title ?? "")" }
    print(heading, lines.map { "  " + $0 }.joined(separator: "\n"), separator: "\n")
    return lines
}

// Create.
try manager.add("Stack the logs", date: monday + 2 * day)
try manager.add("Sharpen the axe", date: monday)
try manager.add("Fell the tree", date: monday + day)
let all = try show("To do:")
precondition(all == ["[ ] Sharpen the axe", "[ ] Fell the tree", "[ ] Stack the logs"])

// Update what is due.
let dueDate = monday + day
try manager.finish(where: NSPredicate(format: "date <= %@", dueDate as CVarArg))
let afterTuesday = try show("On Tuesday evening:")
precondition(afterTuesday == ["[x] Sharpen the axe", "[x] Fell the tree", "[ ] Stack the logs"])

// The model says that a title is needed: the save is refused, and the list is as it was.
do {
    try manager.add("", date: monday)
    preconditionFailure("an empty title is too short")
} catch let error as NSError {
    print("Refused: \(error.localizedDescription)")
    precondition(error.code == NSValidationStringTooShortError)
    manager.context.rollback()
}

// Delete what is done.
try manager.delete(where: NSPredicate(format: "isDone == YES"))
let left = try show("Left:")
precondition(left == ["[ ] Stack the logs"])
try FileManager.default.removeItem(at: manager.place)

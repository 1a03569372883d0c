// The workloads of values without objects: name and age of all persons, or of those that a predicate wants, COUNT times.
//   heartwood-instructions STORE values-WORK COUNT, where WORK is tuples, indexed, sorted, filtered, batched, structures or dictionaries
// A checkout with models has them.
#if canImport(SwiftData)
    import Foundation
    import Heartwood

    extension Workloads {
        private struct Row: Decodable {
            let name: String
            let age: Int64
        }

        mutating func readValues(_ work: String, _ count: Int) throws {
            for _ in 0..<count {
                let request = NSFetchRequest<Person>(entityName: "Person")
                switch work {
                case "tuples": add(try context.values(request, \.name, \.age))
                case "indexed", "sorted":
                    request.sortDescriptors = [NSSortDescriptor(key: work == "indexed" ? "birthday" : "note", ascending: true)]
                    add(try context.values(request, \.name, \.age))
                case "filtered":
                    // Every second person.
                    request.predicate = NSPredicate(format: "age < 45")
                    add(try context.values(request, \.name, \.age))
                case "batched":
                    let batches = try context.valueBatches(request, \.name, \.age, size: 1000)
                    while let rows = try batches.next() { add(rows) }
                case "structures":
                    for row in try context.values(request, as: Row.self) { sum &+= row.age &+ Int64(row.name.utf8.count) }
                case "dictionaries":
                    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
                    request.resultType = .dictionaryResultType
                    request.propertiesToFetch = ["name", "age"]
                    for row in try context.fetch(request) { sum &+= Int64(row.count) }
                default: throw CocoaError(.featureUnsupported)
                }
            }
        }

        private mutating func add(_ rows: [(String, Int64)]) {
            for (name, age) in rows { sum &+= age &+ Int64(name.utf8.count) }
        }
    }
#endif

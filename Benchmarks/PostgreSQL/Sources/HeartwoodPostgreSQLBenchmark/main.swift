// Heartwood's rows of Benchmarks/PostgreSQL/run. Usage: heartwood-postgresql-benchmark URL WORKLOAD REPETITIONS. Prints the median in microseconds;
// for `threads` the saves a second, for `load` the time for so many rows, for `make` nothing: it makes the tables.
import Foundation
import Heartwood

func run(_ url: URL, _ name: String, _ repetitions: Int) throws {
    guard name != "load" else { return print(String(format: "%.0f", try Loading.run(repetitions, to: url))) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
    try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
    if name == "make" { return }
    let workloads = try Workloads(coordinator), clock = ContinuousClock(), warm = repetitions / 10 + 1
    switch name {
    case "threads": return print(try workloads.threads(Double(repetitions)))
    default: break
    }
    var times: [Double] = [], sum = 0.0
    for round in 0..<warm + repetitions {
        let begun = clock.now
        sum += try workloads.run(name, round)
        if round >= warm { times.append((clock.now - begun) / .microseconds(1)) }
    }
    print(String(format: "%.1f", times.sorted()[times.count / 2]))
    FileHandle.standardError.write(Data("\(name): sum \(sum)\n".utf8))
}

let words = CommandLine.arguments
guard words.count == 4, let url = URL(string: words[1]), let repetitions = Int(words[3]), repetitions > 0 else { exit(2) }
do {
    try run(url, words[2], repetitions)
} catch {
    FileHandle.standardError.write(Data("\(words[2]): \(error)\n".utf8))
    exit(1)
}

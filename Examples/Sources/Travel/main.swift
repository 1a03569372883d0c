// SwiftData's interface: a store of an app's first version, the migration to the second, an actor that imports, and a list that observes.
// Source of the interface: https://developer.apple.com/documentation/swiftdata

import Foundation
import Observation
import SwiftData

@ModelActor actor Importer {
    /// Adds a stop at the end of a trip, in this actor's own context.
    func add(_ place: String, to id: PersistentIdentifier) throws {
        guard let trip = self[id, as: Trip.self] else { return }
        trip.stops.append(Stop(place: place, number: trip.stops.count))
        try modelContext.save()
    }
}

let folder = FileManager.default.temporaryDirectory.appending(path: "Travel-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let configuration = ModelConfiguration(url: folder.appending(path: "travel.store"))

do {
    let first = ModelContext(try ModelContainer(for: TravelV1.Trip.self, configurations: configuration))
    first.insert(TravelV1.Trip(name: "Norway", places: ["Oslo", "Bergen"]))
    try first.save()
}

let container = try ModelContainer(for: Trip.self, Stop.self, migrationPlan: TravelPlan.self, configurations: configuration)
let context = container.mainContext
let wanted = "Norway"
let trip = try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.title == wanted })).first!
precondition(trip.stops.sorted { $0.number < $1.number }.map(\.place) == ["Oslo", "Bergen"])

nonisolated(unsafe) var isTold = false
withObservationTracking { _ = trip.stops.count } onChange: { isTold = true }
try await Importer(modelContainer: container).add("Tromsø", to: trip.persistentModelID)

let last = try context.fetch(FetchDescriptor<Stop>(sortBy: [SortDescriptor(\.number, order: .reverse)])).first
precondition(last?.place == "Tromsø" && last?.trip === trip && isTold)
print(trip.title, trip.stops.count, "stops; the list was told:", isTold)

import SwiftData

// Two versions of an app's models, and the way from the first to the second.

enum TravelV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Trip.self] }

    @Model final class Trip {
        var name: String
        var places: [String] = []

        init(name: String, places: [String]) {
            self.name = name
            self.places = places
        }
    }
}

enum TravelV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }

    @Model final class Trip {
        #Index<Trip>([\.title])

        @Attribute(originalName: "name") var title: String
        var places: [String] = []
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

        init(title: String) { self.title = title }
    }

    @Model final class Stop {
        var place: String
        var number: Int
        var trip: Trip?

        init(place: String, number: Int) {
            self.place = place
            self.number = number
        }
    }
}

typealias Trip = TravelV2.Trip
typealias Stop = TravelV2.Stop

enum TravelPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [TravelV1.self, TravelV2.self] }
    static var stages: [MigrationStage] { [stopsBecomeModels] }

    /// Texts become models, which only the program's own code can do.
    static let stopsBecomeModels = MigrationStage.custom(fromVersion: TravelV1.self, toVersion: TravelV2.self, willMigrate: nil) { context in
        for trip in try context.fetch(FetchDescriptor<Trip>()) {
            trip.stops = trip.places.enumerated().map { Stop(place: $1, number: $0) }
            trip.places = []
        }
    }
}

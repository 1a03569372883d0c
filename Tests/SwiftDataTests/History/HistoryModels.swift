import Foundation
import HeartwoodSwiftData

enum Mood: String, Codable { case calm, wild }

struct HistoryPlace: Codable, Equatable {
    var town: String
    var height: Int?
}

@Model final class HistoryTrip {
    @Attribute(.preserveValueOnDeletion) var ref: UUID = UUID()
    @Attribute(.preserveValueOnDeletion) var name: String
    @Attribute(.preserveValueOnDeletion) var mood: Mood = Mood.calm
    @Attribute(.preserveValueOnDeletion) var place: HistoryPlace?
    @Attribute(.preserveValueOnDeletion) var tags: [String] = []
    @Attribute(.preserveValueOnDeletion) var note: String?
    var days: Int = 1
    @Relationship(deleteRule: .cascade, inverse: \HistoryStay.trip) var stays: [HistoryStay] = []

    init(name: String) { self.name = name }
}

@Model final class HistoryStay {
    var town: String
    var trip: HistoryTrip?

    init(town: String, trip: HistoryTrip? = nil) {
        self.town = town
        self.trip = trip
    }
}

@Model class HistoryVehicle {
    @Attribute(.preserveValueOnDeletion) var name: String

    init(name: String) { self.name = name }
}

@Model class HistoryCar: HistoryVehicle {
    var doors: Int = 3

    init(name: String, doors: Int) {
        self.doors = doors
        super.init(name: name)
    }
}

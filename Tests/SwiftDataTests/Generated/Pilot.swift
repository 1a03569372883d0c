// Made by heartwood generate --swiftdata. Changes are lost when it runs again.

import Foundation
import SwiftData

// SwiftData cannot say: the entity's class is PilotMO; an entity has its class's name.
// SwiftData cannot say: the entity is in the configuration Outside; list its class in a ModelConfiguration of this name.
// SwiftData cannot say: the index newest over badge descending.
// SwiftData cannot say: the fetched property namesakes of Pilot where name == $FETCH_SOURCE.name.
@Model
public final class Pilot {
    #Unique<Pilot>([\.country, \.badge])
    #Index<Pilot>([\.name])

    public var badge: Int
    public var country: String = "NO"
    public var `in`: String?
    // SwiftData cannot say: a value must fulfil length >= 1.
    // SwiftData cannot say: a value must fulfil length <= 80.
    public var name: String
    // SwiftData cannot say: the value is derived as canonical:(name); a store that is opened goes on to derive it.
    public var search: String?
    @Relationship(inverse: \Pilot.master) public var apprentices: [Pilot]?
    // SwiftData cannot say: the relationship is ordered; a store that is opened keeps the order.
    @Relationship(deleteRule: .cascade, inverse: \Berth.pilot) public var berths: [Berth]?
    public var master: Pilot?
    // SwiftData cannot say: the relationship is its own inverse; a store that is opened keeps that.
    public var neighbours: [Pilot]?

    public init(badge: Int, name: String) {
        self.badge = badge
        self.name = name
    }
}

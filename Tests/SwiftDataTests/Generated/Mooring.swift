// Made by heartwood generate --swiftdata. Changes are lost when it runs again.

import Foundation
import SwiftData

// SwiftData cannot say: the entity is abstract; a store that is opened keeps that, and takes no new model of it.
// SwiftData cannot say: the entity was named Ground.
// SwiftData cannot say: the user info of the entity, 1 entry.
@Model
public class Mooring {
    @Attribute(.unique, .preserveValueOnDeletion, hashModifier: "two") public var code: String
    public var site: MooringSite?

    public init(code: String) {
        self.code = code
    }
}

public struct MooringSite: Codable, Hashable, Sendable {
    public var center: MooringSiteCenter?
    public var street: String?

    public init(center: MooringSiteCenter? = nil, street: String? = nil) {
        self.center = center
        self.street = street
    }
}

public struct MooringSiteCenter: Codable, Hashable, Sendable {
    public var x: Double
    public var y: Double?

    public init(x: Double = 0.0, y: Double? = nil) {
        self.x = x
        self.y = y
    }
}

// Made by heartwood generate --swiftdata. Changes are lost when it runs again.

import Foundation
import SwiftData

// SwiftData cannot say: the fetch request tall where label BEGINSWITH "t".
@Model
public final class Ship {
    public var label: String?
    @Relationship(deleteRule: .noAction) public var berth: Berth?
    public var rival: Ship?

    public init() {}
}

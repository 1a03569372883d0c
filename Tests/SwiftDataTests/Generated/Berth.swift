// Made by heartwood generate --swiftdata. Changes are lost when it runs again.

import Foundation
import SwiftData

// SwiftData cannot say: the attribute whatever of the type Undefined.
@Model
public final class Berth: Mooring {
    public var area: Double = 1.5
    public var `default`: Int16?
    public var depth: Float?
    public var isWatered: Bool = true
    public var key: UUID?
    public var link: URL?
    public var mood: BerthMood?
    @Attribute(.externalStorage) public var photo: Data?
    public var price: Decimal? = Decimal(string: "2.5") ?? 0
    @Attribute(.ephemeral) public var scratch: String?
    @Attribute(originalName: "built") public var sown: Date?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromDataTransformer")) public var tags: [String]?
    public var visits: Int32 = 0
    public var pilot: Pilot
    @Relationship(deleteRule: .deny, minimumModelCount: 1, maximumModelCount: 9, inverse: \Ship.berth) public var ships: [Ship] = []

    public init(code: String, pilot: Pilot) {
        self.pilot = pilot
        super.init(code: code)
    }
}

// An enumeration with these raw values can stand here.
public struct BerthMood: RawRepresentable, Codable, Hashable, Sendable {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

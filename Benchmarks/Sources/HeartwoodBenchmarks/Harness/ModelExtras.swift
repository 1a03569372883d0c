import Foundation
import Heartwood

/// A model of 90 entities with 720 attributes and 180 relationships, from its file to what a coordinator can use.
struct ModelExtras {
    let rows: Int
    let only: String?
    let directory: URL

    func run() throws -> [Measurement] {
        guard only.map({ "load a model".contains($0) }) ?? true else { return [] }
        let file = directory.appendingPathComponent("Large.xcdatamodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        try Data(Self.xml.utf8).write(to: file.appendingPathComponent("contents"))
        let times = try (0..<9).map { _ in
            try Clock.seconds { NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel.load(contentsOf: file)) }.1
        }
        return [Measurement(workload: "load a model", rows: rows, peer: HeartwoodPeer.name, value: Clock.median(times) * 1e3, unit: "ms")]
    }

    private static var xml: String {
        let types = ["String", "Integer 64", "Date", "Boolean", "Double", "UUID", "Binary", "Decimal"]
        let entities = (0..<90).map { place in
            let attributes = types.enumerated().map { "<attribute name=\"attribute\($0.offset)\" optional=\"YES\" attributeType=\"\($0.element)\"/>" }
            let sides = [("next", 1, "maxCount=\"1\"", "previous"), ("previous", 89, "toMany=\"YES\"", "next")].map { name, step, count, inverse in
                let other = "Entity\((place + step) % 90)"
                return "<relationship name=\"\(name)\" optional=\"YES\" \(count) deletionRule=\"Nullify\" destinationEntity=\"\(other)\" "
                    + "inverseName=\"\(inverse)\" inverseEntity=\"\(other)\"/>"
            }
            return "<entity name=\"Entity\(place)\">\n\((attributes + sides).joined(separator: "\n"))\n</entity>"
        }
        return "<?xml version=\"1.0\"?>\n<model>\n\(entities.joined(separator: "\n"))\n</model>"
    }
}

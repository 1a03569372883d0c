import Foundation
import Heartwood

/// Measures a model of 90 entities with 720 attributes and 180 relationships, from its file until a coordinator can use it.
struct ModelExtras {
    let rows: Int
    let only: String?
    let directory: URL

    func run() throws -> [Measurement] {
        func wants(_ workload: String) -> Bool { only.map { workload.contains($0) } ?? true }
        let isLoaded = wants("load a model"), isGenerated = wants("generate its classes")
        guard isLoaded || isGenerated else { return [] }
        let file = directory.appendingPathComponent("Large.xcdatamodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        try Data(Self.xml.utf8).write(to: file.appendingPathComponent("contents"))
        var result: [Measurement] = []
        func measure(_ workload: String, _ body: () throws -> Void) rethrows {
            let median = Clock.median(try (0..<9).map { _ in try Clock.seconds(body).1 })
            result.append(Measurement(workload: workload, rows: rows, peer: HeartwoodPeer.name, value: median * 1e3, unit: "ms"))
        }
        if isLoaded {
            try measure("load a model") {
                _ = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel.load(contentsOf: file))
            }
        }
        if isGenerated { try measure("generate its classes") { try generate(file) } }
        return result
    }

    /// Runs the command in a process of its own, with an empty output folder.
    private func generate(_ file: URL) throws {
        let output = directory.appendingPathComponent("classes")
        try? FileManager.default.removeItem(at: output)
        let process = Process()
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("heartwood")
        process.arguments = ["generate", file.path, "-o", output.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let count = (try? FileManager.default.contentsOfDirectory(atPath: output.path))?.count ?? 0
        guard process.terminationStatus == 0, count == 180 else {
            throw Failure(description: "heartwood generate wrote \(count) of 180 files")
        }
    }

    private struct Failure: Error, CustomStringConvertible { let description: String }

    private static var xml: String {
        let types = ["String", "Integer 64", "Date", "Boolean", "Double", "UUID", "Binary", "Decimal"]
        let entities = (0..<90).map { place in
            let attributes = types.enumerated().map { "<attribute name=\"attribute\($0.offset)\" optional=\"YES\" attributeType=\"\($0.element)\"/>" }
            let sides = [("next", 1, "maxCount=\"1\"", "previous"), ("previous", 89, "toMany=\"YES\"", "next")].map { name, step, count, inverse in
                let other = "Entity\((place + step) % 90)"
                return "<relationship name=\"\(name)\" optional=\"YES\" \(count) deletionRule=\"Nullify\" destinationEntity=\"\(other)\" "
                    + "inverseName=\"\(inverse)\" inverseEntity=\"\(other)\"/>"
            }
            let names = "name=\"Entity\(place)\" representedClassName=\"Entity\(place)\" codeGenerationType=\"class\""
            return "<entity \(names)>\n\((attributes + sides).joined(separator: "\n"))\n</entity>"
        }
        return "<?xml version=\"1.0\"?>\n<model>\n\(entities.joined(separator: "\n"))\n</model>"
    }
}

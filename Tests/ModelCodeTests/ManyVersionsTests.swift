import Foundation
import Heartwood
import HeartwoodModelCode
import Synchronization
import Testing

/// An app had a model of 117 versions. Each migration read all of them, several times, and none was let go.
struct ManyVersionsTests {
    private static let count = 117
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("versions-\(UUID().uuidString)")
    private var bundle: URL { folder.appendingPathComponent("M.momd") }

    private func write(_ text: String, to name: String) throws {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func makeBundle(_ count: Int = count) throws {
        for number in 1...count {
            let entities = (1...5).map { entity in
                """
                <entity name="E\(entity)"><attribute name="a" attributeType="String" versionHashModifier="\(number)"/>\
                <relationship name="next" optional="YES" maxCount="1" destinationEntity="E\(entity % 5 + 1)" inverseName="previous"/>\
                <relationship name="previous" optional="YES" toMany="YES" destinationEntity="E\((entity + 3) % 5 + 1)" inverseName="next"/></entity>
                """
            }
            try write("<model>\(entities.joined())</model>", to: "source/M.xcdatamodeld/M \(number).xcdatamodel/contents")
        }
        let marker = "<plist><dict><key>_XCCurrentVersionName</key><string>M \(count).xcdatamodel</string></dict></plist>"
        try write(marker, to: "source/M.xcdatamodeld/.xccurrentversion")
        #expect(PluginRun.run(["--compile", folder.path + "/source/M.xcdatamodeld", bundle.path]) == 0)
    }

    private func version(_ number: Int) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.load(contentsOf: bundle.appendingPathComponent("M \(number).mom"))
    }

    /// The names of the files that the body reads.
    private func reads<Result>(_ body: () throws -> Result) rethrows -> (files: [String], result: Result) {
        let heard = Heard()
        let result = try ModelFile.$hearRead.withValue({ url in heard.files.withLock { $0.append(url.lastPathComponent) } }, operation: body)
        return (heard.files.withLock { $0 }, result)
    }

    private final class Heard: Sendable {
        let files = Mutex<[String]>([])
    }

    @Test
    func `A store's version is the only one that is read`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeBundle()
        let resources = try #require(Bundle(path: folder.path))
        for number in [1, 60, Self.count] {
            let made = try version(number)
            let metadata = [NSStoreModelVersionHashesKey: made.entityVersionHashesByName]
            let found = reads { NSManagedObjectModel.mergedModel(from: [resources], forStoreMetadata: metadata) }
            #expect(found.files == ["M \(number).mom"] && found.result == made)
        }
        let unknown = [NSStoreModelVersionHashesKey: ["E1": Data([1])]]
        #expect(NSManagedObjectModel.mergedModel(from: [resources], forStoreMetadata: unknown) == nil)
    }

    @Test
    func `A search for a mapping model reads no version, and of the mapping models only the one that it finds`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeBundle()
        for number in [3, 50, 90] {
            try write(
                """
                <database><object type="XDDEVMAPPINGMODEL" id="z1"><attribute name="sourcemodelpath" type="string">\
                App/M.xcdatamodeld/M \(number).xcdatamodel</attribute><attribute name="destinationmodelpath" type="string">\
                App/M.xcdatamodeld/M \(number + 1).xcdatamodel</attribute></object></database>
                """, to: "\(number).cdm")
        }
        let resources = try #require(Bundle(path: folder.path))
        for number in [3, 4, 50, 51, 90, 116] {
            let (old, new) = (try version(number), try version(number + 1))
            let found = reads { NSMappingModel(from: [resources], forSourceModel: old, destinationModel: new) }
            #expect(found.files.isEmpty && (found.result != nil) == [3, 50, 90].contains(number), "\(number)")
        }
    }

    @Test
    func `A model that nobody holds is freed with its entities`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeBundle(2)
        weak var model: NSManagedObjectModel?, entity: NSEntityDescription?, relationship: NSRelationshipDescription?
        for isUsed in [false, true] {
            try autoreleased {
                let made = try version(1)
                if isUsed {
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: made)
                    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
                    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    context.persistentStoreCoordinator = coordinator
                    try context.performAndWait {
                        let object = NSEntityDescription.insertNewObject(forEntityName: "E1", into: context)
                        object.setValue("a", forKey: "a")
                        try context.save()
                    }
                }
                (model, entity, relationship) = (made, made.entities[0], made.entities[0].relationshipsByName["next"])
                #expect(relationship?.inverseRelationship?.inverseRelationship === relationship)
            }
            #expect(model == nil && entity == nil && relationship == nil, "used \(isUsed)")
        }
    }

    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

    @Test
    func `An entity that outlives its model leads nowhere, and one in another model leads on`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeBundle(2)
        let kept = try version(1).entitiesByName["E1"]
        #expect(kept?.relationshipsByName["next"]?.destinationEntity == nil && kept?.relationshipsByName["next"]?.inverseRelationship == nil)
        let other = NSManagedObjectModel()
        other.entities = try version(1).entities
        #expect(other.entitiesByName["E1"]?.relationshipsByName["next"]?.destinationEntity === other.entitiesByName["E2"])
        #expect(other.entitiesByName["E1"]?.relationshipsByName["next"]?.inverseRelationship?.name == "previous")
    }
}

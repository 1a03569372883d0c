import Foundation
import Testing

@testable import Heartwood

/// Models of real stores.
@Suite(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)")) struct SharedStoreModelTests {
    private static func model(_ store: SharedStores.Store) throws -> NSManagedObjectModel? {
        try store.cache.map { try ModelCache.model(from: Array($0), path: store.folder) }
    }

    @Test
    func `Each store's cache gives the entities and properties that a second reader finds in it`() throws {
        var count = 0
        for store in try SharedStores.all() {
            guard let model = try Self.model(store), let expected = store.model else { continue }
            count += 1
            #expect(model.warnings.isEmpty, "\(store.folder): \(model.warnings)")
            var found = ModelDescription.all(model)
            for (name, entity) in expected where entity.indexes == nil { found[name]?.indexes = nil }
            #expect(Set(found.keys) == Set(expected.keys), "\(store.folder)")
            for (name, entity) in expected where found[name] != entity {
                let differing = entity.properties.filter { found[name]?.properties[$0.key] != $0.value }
                Issue.record("\(store.folder) \(name): \(differing), \(String(describing: found[name]).prefix(2000))")
            }
        }
        #expect(count >= 15)
    }

    @Test
    func `Each store's cache has the entities and properties of the objects that are expected in it`() throws {
        for store in try SharedStores.all() {
            guard let model = try Self.model(store) else { continue }
            let lines = try SharedStores.expected(store.folder)
            let numbers = try #require(lines.first?["entityNumbers"] as? [String: Int]).filter { $0.value < 16000 }
            #expect(Set(numbers.keys) == Set(model.entities.compactMap(\.name)), "\(store.folder)")
            for object in lines.dropFirst() {
                let entity = try #require(model.entitiesByName[object["entity"] as? String ?? ""])
                for name in (object["attributes"] as? [String: Any] ?? [:]).keys {
                    let outer = String(name.prefix { $0 != "." })
                    #expect(entity.attributesByName[outer]?.isTransient == false, "\(store.folder) \(entity.name ?? "").\(name)")
                }
                for (name, targets) in object["relationships"] as? [String: Any] ?? [:] {
                    let relationship = try #require(entity.relationshipsByName[name], "\(store.folder) \(entity.name ?? "").\(name)")
                    #expect(relationship.isToMany || (targets as? [Any])?.count ?? 0 <= 1)
                }
            }
        }
    }

    @Test
    func `A cache is one of the versions of the store's model, if the model's source is there`() throws {
        var count = 0
        for store in try SharedStores.all() {
            guard let model = try Self.model(store) else { continue }
            let versions = SharedStores.files(".xcdatamodel", of: store.folder)
            guard !versions.isEmpty else { continue }
            let found = try versions.map { try NSManagedObjectModel.load(contentsOf: $0) }
                .first { $0.entityVersionHashesByName == model.entityVersionHashesByName }
            guard let source = found else {
                Issue.record("\(store.folder): the model is none of \(versions.map(\.lastPathComponent))")
                continue
            }
            count += 1
            #expect(Self.properties(source, store.folder) == Self.properties(model, store.folder), "\(store.folder)")
        }
        #expect(count >= 8)
    }

    /// By entity and name. CareKit's program sets defaults in code.
    private static func properties(_ model: NSManagedObjectModel, _ store: String) -> [String: [String: String]] {
        ModelDescription.all(model).mapValues { entity in
            entity.properties.mapValues { store == "carekit-2.0" ? $0.replacing(/\sdefault=.*/, with: "") : $0 }
        }
    }

    @Test
    func `A store's metadata names the version of a compiled model`() throws {
        var count = 0
        for store in try SharedStores.all() {
            guard let bytes = store.metadata else { continue }
            let list = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
            let metadata = try #require(list as? [String: Any])
            for bundle in SharedStores.files(".momd", of: store.folder) {
                count += 1
                let version = try StoreModelVersion.model(forStoreWith: metadata, in: bundle)
                let made = try Self.model(store), cached = try #require(made)
                #expect(version.entityVersionHashesByName == cached.entityVersionHashesByName, "\(store.folder)")
                #expect(ModelDescription.all(version) == ModelDescription.all(cached), "\(store.folder)")
            }
        }
        #expect(count >= 2)
    }
}

import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Versions of models by the metadata of SQLite stores, and names that SQL has to quote.
@Suite struct SQLiteVersionTests {
    @Test(arguments: ["composites", "history"])
    func `By the metadata of a store of Core Data's the version is found that opens it, and no other`(name: String) throws {
        let golden = try #require(try CoreDataStoreFiles.goldens().first { $0.name == name })
        // As from a model's source, which knows no hashes of Core Data's.
        let right = try #require(try CoreDataStoreModel.find(storeAt: golden.store.path).model.copy() as? NSManagedObjectModel)
        right.coreDataHashes = CoreDataHashes()
        let other = try #require(right.copy() as? NSManagedObjectModel)
        try #require(other.entities.first { !$0.attributesByName.isEmpty }?.attributesByName.values.first).isOptional.toggle()
        let closed = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: golden.store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: right)
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: golden.store)
        for metadata in [closed, coordinator.metadata(for: store)] {
            #expect(right.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            let found = NSManagedObjectModel(byMerging: [other, right], forStoreMetadata: metadata)
            #expect(found?.entityVersionHashesByName == right.entityVersionHashesByName)
            #expect(NSManagedObjectModel(byMerging: [other], forStoreMetadata: metadata) == nil)
        }
        let refusing = NSPersistentStoreCoordinator(managedObjectModel: other)
        #expect(throws: NSError.self) { try refusing.addPersistentStore(type: .sqlite, configuration: nil, at: golden.store) }
    }

    @Test(arguments: ["It\"em", "a/b", "two words", "it's"])
    func `An entity whose name has a quote, a slash or a space is exported and comes back`(name: String) throws {
        let item = NSEntityDescription(), owner = NSEntityDescription()
        (item.name, owner.name) = (name, "Owner")
        let title = TestStack.attribute("title", .stringAttributeType)
        let to = NSRelationshipDescription(), back = NSRelationshipDescription()
        (to.name, to.destinationEntity, to.maxCount) = ("owner", owner, 1)
        (back.name, back.destinationEntity, back.maxCount) = ("items", item, 0)
        (to.inverseRelationship, back.inverseRelationship) = (back, to)
        item.properties = [title, to]
        item.uniquenessConstraints = [["title"]]
        owner.properties = [back]
        let model = NSManagedObjectModel()
        model.entities = [item, owner]
        let stack = try TestStack(.inMemory, model: model)
        let made = NSEntityDescription.insertNewObject(forEntityName: name, into: stack.context)
        made.setValue("t", forKey: "title")
        made.setValue(NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stack.context), forKey: "owner")
        try stack.context.save()
        for layout in [SQLiteStoreExport.Layout.coreData(version: nil), .plain] {
            try ExportedStore.with(stack.persistentStore, layout) { exported in
                try exported.check()
                guard case .coreData = layout else { return }
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                let context = try exported.context(model), found = try context.fetch(request)
                #expect(found.map { $0.value(forKey: "title") as? String } == ["t"] && found.first?.value(forKey: "owner") != nil)
                withExtendedLifetime(context) {}
            }
        }
    }

    @Test
    func `The fetch indexes that an export does not make are named`() throws {
        let entity = NSEntityDescription(), title = TestStack.attribute("title", .stringAttributeType)
        entity.name = "Item"
        entity.properties = [title]
        let plain = NSFetchIndexDescription(name: "plain", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        let partial = NSFetchIndexDescription(name: "partial", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        partial.partialIndexPredicate = NSPredicate(format: "title ==[c] \"a\"")
        entity.indexes = [plain, partial]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try TestStack(.inMemory, model: model)
        try ExportedStore.with(stack.persistentStore) { #expect($0.summary.unwrittenIndexes == ["Item.partial"]) }
    }

    @Test
    func `A date outside of the years 1 to 9999 is in plain tables what it is in JSON Lines: seconds since 1970`() {
        #expect(ExportDate.text(-1e12) == "-999021692800.0" && ExportDate.text(0) == "2001-01-01T00:00:00.000000Z")
    }
}

import CoreData
import Foundation
import Testing

// Calls as code for Apple's platforms has them, each of which the compiler refused once.

/// Classes whose entities are described in code.
final class Chapter: NSManagedObject {
    @NSManaged var title: String?
    @NSManaged var sheets: NSSet?
}

final class Sheet: NSManagedObject {
    @NSManaged var number: Int64
    @NSManaged var chapter: Chapter?
}

extension Chapter {
    @NSManaged func addToSheets(_ value: Sheet)
    @NSManaged func removeFromSheets(_ value: Sheet)
    @NSManaged func addToSheets(_ values: NSSet)
    @NSManaged func removeFromSheets(_ values: NSSet)
}

private func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let made = NSAttributeDescription()
    made.name = name
    made.attributeType = type
    return made
}

private func bookModel() -> NSManagedObjectModel {
    let chapter = NSEntityDescription(), sheet = NSEntityDescription()
    chapter.name = "Chapter"
    chapter.managedObjectClassName = NSStringFromClass(Chapter.self)
    sheet.name = "Sheet"
    sheet.managedObjectClassName = NSStringFromClass(Sheet.self)
    let sheets = NSRelationshipDescription(), owner = NSRelationshipDescription()
    sheets.name = "sheets"
    sheets.destinationEntity = sheet
    sheets.inverseRelationship = owner
    owner.name = "chapter"
    owner.maxCount = 1
    owner.destinationEntity = chapter
    owner.inverseRelationship = sheets
    chapter.properties = [attribute("title", .stringAttributeType), sheets]
    sheet.properties = [attribute("number", .integer64AttributeType), owner]
    let model = NSManagedObjectModel()
    model.entities = [chapter, sheet]
    return model
}

private func bookContainer() -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Book", managedObjectModel: bookModel())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    return container
}

extension NSPersistentStoreCoordinator {
    fileprivate static func made(of model: NSManagedObjectModel) -> NSPersistentStoreCoordinator { self.init(managedObjectModel: model) }
}

private final class NamedComparison: NSComparisonPredicate {}
private final class NamedCompound: NSCompoundPredicate {}

// From before Core Data had such methods: an app's own are called.
extension NSManagedObjectContext {
    fileprivate func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
        userInfo["waited"] = (userInfo["waited"] as? Int ?? 0) + 1
        return try block()
    }
}

extension NSPersistentStoreCoordinator {
    fileprivate func performAndWait<Result>(_ block: () throws -> Result) rethrows -> [Result] { [try block()] }
}

private func keyPathExpression<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> NSExpression { NSExpression(forKeyPath: keyPath) }

@MainActor @Suite(.serialized) struct SurfaceTests {
    @Test func anAppsOwnPerformAndWaitGoesBeforeCoreDatas() throws {
        let container = bookContainer(), context = container.viewContext
        let request = NSFetchRequest<Chapter>(entityName: "Chapter")
        let (count, one) = (try context.performAndWait { try context.count(for: request) }, context.performAndWait { return 1 })
        #expect(count == 0 && one == 1 && context.userInfo["waited"] as? Int == 2)
        let stores = container.persistentStoreCoordinator.performAndWait { return container.persistentStoreCoordinator.persistentStores.count }
        #expect(stores == [1])
    }

    @Test func aClassMethodMakesACoordinatorBySelf() {
        let model = bookModel()
        #expect(NSPersistentStoreCoordinator.made(of: model).managedObjectModel === model)
        #expect(NSPersistentStoreCoordinator().managedObjectModel.entities.isEmpty)
    }

    @Test func managedFunctionsOfAnEntityInCodeAreServed() throws {
        let context = bookContainer().viewContext
        let chapter = Chapter(context: context), first = Sheet(context: context), second = Sheet(context: context)
        first.number = 1
        second.number = 2
        chapter.addToSheets(first)
        chapter.addToSheets(NSSet(object: second))
        #expect(chapter.sheets == NSSet(array: [first, second]) && second.chapter === chapter)
        chapter.removeFromSheets(NSSet(object: first))
        chapter.removeFromSheets(second)
        #expect(chapter.sheets?.count == 0 && first.chapter == nil)
        try context.save()
    }

    @Test func anObjectIsReadAndSetByASubscript() {
        let context = bookContainer().viewContext
        let sheet = Sheet(context: context)
        sheet["number"] = 7
        #expect(sheet["number"] as? Int == 7 && sheet.number == 7)
    }

    @Test func anObjectWithoutAContextBelongsToNone() {
        let sheet = withExtendedLifetime(bookContainer()) { Sheet() }
        #expect(sheet.managedObjectContext == nil && sheet.entity.name == "Sheet")
        sheet["number"] = 7
        #expect(sheet.number == 7)
    }

    @Test func aChangeIsReportedWithAVoid() {
        let context = bookContainer().viewContext
        let sheet = Sheet(context: context)
        var calls = 0
        let publisher: NSManagedObject.ObjectWillChangePublisher = sheet.objectWillChange
        let first = publisher.sink { _ in calls += 1 }
        let second = publisher.sink { calls += 10 }
        let plain: () -> Void = { calls += 100 }
        let third = sheet.objectWillChange.sink(receiveValue: plain)
        sheet.number = 3
        #expect(calls == 111)
        for observation in [first, second, third] { observation.cancel() }
    }

    @Test func functionsAreTakenAsValues() throws {
        let context = bookContainer().viewContext
        #expect(["Chapter", "None"].map { NSEntityDescription.entity(forEntityName: $0, in: context)?.name } == ["Chapter", nil])
        let find: (String, NSManagedObjectContext) -> NSEntityDescription? = NSEntityDescription.entity(forEntityName:in:)
        let insert: (String, NSManagedObjectContext) -> NSManagedObject = NSEntityDescription.insertNewObject(forEntityName:into:)
        #expect(find("Sheet", context)?.managedObjectClassName == NSStringFromClass(Sheet.self) && insert("Sheet", context) is Sheet)
        let requests = ["Chapter", "Sheet"].map(NSFetchRequest<NSManagedObject>.init(entityName:))
        #expect(requests.map(\.entityName) == ["Chapter", "Sheet"])
        #expect(try context.count(for: requests[1]) == 1)
        #expect(["Sheet"].map(NSBatchUpdateRequest.init(entityName:)).first?.entityName == "Sheet")
        let inserting: (String, [[String: Any]]) -> NSBatchInsertRequest = NSBatchInsertRequest.init(entityName:objects:)
        #expect(inserting("Sheet", [["number": 4]]).objectsToInsert?.count == 1)
        #expect(NSBatchInsertRequest().objectsToInsert == nil)
        let models = [URL(fileURLWithPath: "/nowhere")].map(NSManagedObjectModel.init(contentsOf:))
        #expect(models == [nil])
    }

    @Test func subclassesOfPredicatesInheritInitializers() {
        let left = NSExpression(forKeyPath: "number"), right = NSExpression(forConstantValue: 3)
        let comparison = NamedComparison(leftExpression: left, rightExpression: right, modifier: .direct, type: .greaterThan, options: [])
        let compound = NamedCompound(notPredicateWithSubpredicate: comparison)
        #expect(comparison.predicateFormat == "number > 3" && compound.compoundPredicateType == .not)
        let sheets = [2, 4].map { ["number": $0] as NSDictionary }
        #expect(sheets.map { comparison.evaluate(with: $0) } == [false, true] && sheets.map { compound.evaluate(with: $0) } == [true, false])
        #expect(NamedComparison(format: "number == 1").predicateFormat == "number == 1")
    }

    @Test func nothingMeetsAPredicateThatStatesNothing() {
        let stated: NSPredicate = NSPredicate()
        #expect(stated != NSPredicate(value: true))
        #expect(!NSPredicate().evaluate(with: nil))
    }

    @Test func genericCodeMakesAnExpressionOfAKeyPath() {
        let container = bookContainer()
        #expect(keyPathExpression(\Sheet.number).keyPath == "number")
        #expect(keyPathExpression(\String.count).expressionType == .constantValue, "the fetch that meets it says what is wrong")
        #expect(container.managedObjectModel.entities.count == 2)
    }

    @Test func descriptionsSayWhatTheyBelongToWithoutOptionals() throws {
        let container = bookContainer()
        let entity = try #require(container.managedObjectModel.entitiesByName["Sheet"])
        let property: NSPropertyDescription = try #require(entity.propertiesByName["number"])
        let owner: NSEntityDescription = property.entity, model: NSManagedObjectModel = entity.managedObjectModel
        #expect(owner === entity && model === container.managedObjectModel)
        let update = NSBatchUpdateRequest(entity: entity)
        let target: NSEntityDescription = update.entity
        #expect(target === entity)
        let reference = NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        let resolved: NSManagedObjectModel = reference.resolvedModel
        #expect(resolved === model)
    }

    @Test func typesHaveTheRawValuesOfTheOlderOnes() {
        let type = NSAttributeDescription.AttributeType.date
        let raw: NSAttributeType = type.rawValue
        #expect(raw == .dateAttributeType && NSAttributeDescription.AttributeType(rawValue: .undefinedAttributeType) == .undefined)
        let confined = NSManagedObjectContext.ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        #expect(confined == .privateQueue && confined.rawValue == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext().concurrencyType.rawValue == 0)
        var store = NSPersistentStore.StoreType.binary
        store.rawValue = "Own"
        #expect(store.rawValue == "Own")
    }

    @Test func formerNamesOfErrorCodesStay() throws { try (FormerNames() as any FormerUse).check() }

    @Test func theDefaultDirectoryIsAPropertyToo() {
        let directory: URL = NSPersistentContainer.defaultDirectoryURL
        #expect(directory == NSPersistentContainer.defaultDirectoryURL())
        #expect(NSPersistentContainer.defaultDirectoryURL.appendingPathComponent("a").lastPathComponent == "a")
    }

    @Test func idsAreFoundByTexts() throws {
        let container = bookContainer(), context = container.viewContext
        let sheet = Sheet(context: context)
        try context.save()
        let text = sheet.objectID.uriRepresentation().absoluteString
        #expect(container.persistentStoreCoordinator.managedObjectID(for: text) == sheet.objectID)
        #expect(container.persistentStoreCoordinator.managedObjectID(for: "no id") == nil)
    }

    @Test func storesAreRegisteredAsAnyClass() throws {
        let storeClass: AnyClass? = PlainStore.self
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: "Plain")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bookModel())
        let file = URL(fileURLWithPath: "/dev/null/plain")
        let store = try coordinator.addPersistentStore(ofType: "Plain", configurationName: nil, at: file)
        #expect(store is PlainStore && (store as? PlainStore)?.wasMade == true && store.url == file)
        store.url = URL(fileURLWithPath: "/elsewhere")
        #expect(store.url?.path == "/elsewhere")
        NSPersistentStoreCoordinator.registerStoreClass(nil, type: NSPersistentStore.StoreType(rawValue: "Plain"))
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Plain"] == nil)
    }

    @Test func metadataAreReadWithoutAType() throws { try (FormerMetadata() as any FormerUse).check() }

    @Test func nothingIsLeftOfALightweightMigration() throws {
        let coordinator = bookContainer().persistentStoreCoordinator
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        description.setOption(true as NSNumber, forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
        try coordinator.finishDeferredLightweightMigration()
        try coordinator.finishDeferredLightweightMigrationTask()
    }

    @Test func aMigrationTakesOptionsOfAStore() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("surface-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let from = folder.appendingPathComponent("from"), to = folder.appendingPathComponent("to")
        let model = bookModel()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .recordLog, at: from)
        let options = store.options
        try coordinator.remove(store)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
        let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
        try manager.migrateStore(from: from, type: .recordLog, options: options, mapping: mapping, to: to, type: .recordLog, options: nil)
        let used: NSMappingModel = manager.mappingModel
        #expect(used === mapping && FileManager.default.fileExists(atPath: to.path))
    }

    @Test func anAsynchronousFetchCallsItsBlock() throws {
        let context = bookContainer().viewContext
        _ = Sheet(context: context)
        var found = 0
        let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Sheet>(entityName: "Sheet")) { found += $0.finalResult?.count ?? -1 }
        let block: NSPersistentStoreAsynchronousFetchResultCompletionBlock? = request.completionBlock
        let erased = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sheet")
        let result = try context.execute(erased) as? NSAsynchronousFetchResult<any NSFetchRequestResult>
        block?(try #require(result))
        #expect(found == 1)
    }
}

/// Where what is deprecated is used, without a warning for whoever builds the tests.
private protocol FormerUse {
    func check() throws
}

private struct FormerNames: FormerUse {
    @available(*, deprecated) func check() throws {
        let error = CocoaError(.managedObjectValidationError)
        #expect(error.code == .managedObjectValidation && CocoaError.persistentStoreSaveError == .persistentStoreSave)
    }
}

private struct FormerMetadata: FormerUse {
    @available(*, deprecated) func check() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("surface-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for type in [NSRecordLogStoreType, NSBinaryStoreType] {
            let url = folder.appendingPathComponent(type)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bookModel())
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
            try coordinator.remove(store)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: url)
            #expect(metadata[NSStoreTypeKey] as? String == type)
        }
        let log = folder.appendingPathComponent(NSRecordLogStoreType)
        try NSPersistentStoreCoordinator.setMetadata(["who": "me"], forPersistentStoreOfType: nil, at: log)
        let type: String? = NSRecordLogStoreType
        #expect(try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: log)["who"] as? String == "me")
        #expect(throws: (any Error).self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: folder.appendingPathComponent("none"))
        }
    }
}

private final class PlainStore: NSAtomicStore, @unchecked Sendable {
    private(set) var wasMade = false

    override init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
        wasMade = true
    }

    override var type: String { "Plain" }
    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "plain", NSStoreTypeKey: type] }
    override func load() throws {}
    override func save() throws {}
}

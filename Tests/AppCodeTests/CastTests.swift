import CoreData
import Foundation
import Testing

// Types of results as code for Apple's platforms changes them: by casts, which nothing checks there.

private enum Templates {
    static let model: NSManagedObjectModel = {
        let model = PersistenceController.model.copy() as! NSManagedObjectModel
        let all = NSFetchRequest<NSFetchRequestResult>(entityName: "Tag")
        all.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        model.setFetchRequestTemplate(all, forName: "AllTags")
        let starting = NSFetchRequest<NSFetchRequestResult>(entityName: "Tag")
        starting.predicate = NSPredicate(format: "name BEGINSWITH $START")
        model.setFetchRequestTemplate(starting, forName: "TagsByStart")
        return model
    }()

    static func all(model: NSManagedObjectModel?) -> NSFetchRequest<Tag>? {
        guard let fetchRequest = model?.fetchRequestTemplate(forName: "AllTags") as? NSFetchRequest<Tag> else { return nil }
        return fetchRequest
    }

    static func starting<Entity: NSFetchRequestResult>(with text: String, model: NSManagedObjectModel) -> NSFetchRequest<Entity> {
        return model.fetchRequestFromTemplate(
            withName: "TagsByStart",
            substitutionVariables: ["START": text]) as! NSFetchRequest<Entity>
    }
}

private final class TagList: NSObject, NSFetchedResultsControllerDelegate {
    let controller: NSFetchedResultsController<Tag>
    var answers: [String] = []

    init(_ controller: NSFetchedResultsController<Tag>) {
        self.controller = controller
        super.init()
        controller.delegate = self
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        let tags = NSFetchedResultsController<Tag>(controller)
        answers = ["\(controller == self.controller) \(controller === self.controller) \(tags === self.controller)"]
        answers += tags.fetchedObjects?.map(\.name) ?? []
        answers.append(tags.object(at: IndexPath(row: 0, section: 0)).name)
        tags.fetchRequest.fetchLimit = 7
    }

    func tellYourself() {
        controllerDidChangeContent(NSFetchedResultsController<NSFetchRequestResult>(controller))
    }
}

private final class ExecuteSpy: NSManagedObjectContext, @unchecked Sendable {
    var requests: [NSPersistentStoreRequest] = []

    override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        requests.append(request)
        return try super.execute(request)
    }
}

@MainActor @Suite struct CastTests {
    private let context: NSManagedObjectContext

    init() throws {
        context = Self.connected(NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType))
        for name in ["abc", "abd", "b"] { _ = Tag(name: name, context: context) }
        try context.save()
    }

    private static func connected<Context: NSManagedObjectContext>(_ context: Context) -> Context {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Templates.model)
        try! coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func aTemplateIsCastToARequestForAClass() throws {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        let request = try #require(Templates.all(model: model))
        request.fetchLimit = 2
        #expect(try context.fetch(request).map(\.name) == ["abc", "abd"])
        #expect(Templates.all(model: model)?.fetchLimit == 0, "what a caller sets is not the template's")
        let starting: NSFetchRequest<Tag> = Templates.starting(with: "ab", model: Templates.model)
        #expect(try context.fetch(starting).count == 2)
        let ids = Templates.model.fetchRequestTemplate(forName: "AllTags") as! NSFetchRequest<NSManagedObjectID>
        ids.resultType = .managedObjectIDResultType
        #expect(try context.fetch(ids).count == 3)
        #expect(Templates.model.fetchRequestTemplate(forName: "None") as? NSFetchRequest<Tag> == nil)
    }

    @Test func aTemplateThatNobodyCastsIsTheOneOfTheModel() throws {
        let template = try #require(Templates.model.fetchRequestTemplate(forName: "AllTags"))
        #expect(template === Templates.model.fetchRequestTemplatesByName["AllTags"])
        let same = Templates.model.fetchRequestTemplate(forName: "AllTags") as? NSFetchRequest<NSFetchRequestResult>
        #expect(same === template)
        #expect(try context.count(for: Templates.model.fetchRequestTemplate(forName: "AllTags")!) == 3)
        #expect(try context.fetch(Templates.model.fetchRequestTemplate(forName: "AllTags")!) is [Tag])
        let tags = try context.fetch(template) as! [Tag]
        #expect(tags.count == 3 && Templates.model.fetchRequestTemplate(forName: "AllTags")?.entityName == "Tag")
    }

    @Test func whatIsExecutedGivesTheTypeThatItsResultIsCastTo() throws {
        let request = Tag.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let tags = try context.execute(request) as! NSAsynchronousFetchResult<Tag>
        let untyped = try context.execute(request) as! NSAsynchronousFetchResult<NSFetchRequestResult>
        #expect(tags.finalResult?.map(\.name) == ["abc", "abd", "b"] && untyped.finalResult as? [Tag] == tags.finalResult)
        request.resultType = .countResultType
        guard let counted = try? context.execute(request) as? NSAsynchronousFetchResult<NSFetchRequestResult>,
            let count = counted.finalResult?.first as? NSNumber
        else {
            Issue.record("a count is no result")
            return
        }
        #expect(count == 3)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        let rows = try context.execute(request) as! NSAsynchronousFetchResult<NSDictionary>
        #expect(rows.finalResult?.map { $0["name"] as? String } == ["abc", "abd", "b"])
    }

    @Test func whatNobodyCastsGivesTheTypeOfTheRequest() throws {
        let request = Tag.fetchRequest()
        let result = try context.execute(request)
        #expect((result as? NSAsynchronousFetchResult<Tag>)?.finalResult?.count == 3)
        let asynchronous = try context.execute(request) as! NSPersistentStoreAsynchronousResult
        #expect(asynchronous.operationError == nil)
        let deleted = try context.execute(NSBatchDeleteRequest(fetchRequest: Tag.fetchRequest())) as? NSBatchDeleteResult
        #expect(try context.count(for: request) == 0 && deleted?.resultType == .resultTypeStatusOnly)
    }

    @Test func aContextsSpyHearsOfWhatIsCast() throws {
        let spy = Self.connected(ExecuteSpy(concurrencyType: .mainQueueConcurrencyType))
        let context: NSManagedObjectContext = spy, request = Tag.fetchRequest()
        let tags = try context.execute(request) as? NSAsynchronousFetchResult<Tag>
        #expect(tags?.finalResult == [] && spy.requests.last === request)
        let untyped = try context.execute(request) as? NSAsynchronousFetchResult<NSFetchRequestResult>
        #expect(untyped?.finalResult?.isEmpty == true && spy.requests.count == 2)
        #expect(spy.requests.last is NSFetchRequest<NSFetchRequestResult>)
    }

    @Test func anAsynchronousFetchsResultIsCastAndItsBlockHasItsOwnType() async throws {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let background = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        background.persistentStoreCoordinator = coordinator
        let names: [String] = await withCheckedContinuation { continuation in
            background.perform {
                let request = Tag.fetchRequest()
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                var untyped: NSAsynchronousFetchResult<NSFetchRequestResult>?
                let asynchronous = NSAsynchronousFetchRequest<Tag>(fetchRequest: request) { result in
                    let names = result.finalResult?.map(\.name) ?? []
                    continuation.resume(returning: untyped?.finalResult?.count == names.count ? names : [])
                }
                asynchronous.estimatedResultCount = 3
                untyped = try? background.execute(asynchronous) as? NSAsynchronousFetchResult<NSFetchRequestResult>
                #expect(untyped?.fetchRequest.estimatedResultCount == 3)
            }
        }
        #expect(names == ["abc", "abd", "b"])
    }

    @Test func aRequestIsTakenForResultsOfAnotherType() throws {
        let request = Tag.fetchRequest()
        request.predicate = NSPredicate(format: "name BEGINSWITH 'ab'")
        let untyped = NSFetchRequest<NSFetchRequestResult>(request)
        let tags = NSFetchRequest<Tag>(untyped)
        tags.fetchLimit = 1
        #expect(try context.fetch(untyped) is [Tag] && context.fetch(tags).count == 1 && untyped.fetchLimit == 0)
        try context.execute(NSBatchDeleteRequest(fetchRequest: untyped))
        #expect(try context.fetch(Tag.fetchRequest()).map(\.name) == ["b"])
    }

    @Test func aDelegatesControllerIsOneOfItsObjects() throws {
        let request = Tag.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let list = TagList(
            NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil))
        try list.controller.performFetch()
        _ = Tag(name: "aa", context: context)
        context.processPendingChanges()
        #expect(list.answers == ["true true true", "aa", "abc", "abd", "b", "aa"] && request.fetchLimit == 7)
        list.answers = []
        list.tellYourself()
        #expect(list.answers == ["true true true", "aa", "abc", "abd", "b", "aa"])
    }
}

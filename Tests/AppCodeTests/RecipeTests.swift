import CoreData
import Foundation
import Testing

// A view context is the main queue's.
@MainActor @Suite struct RecipeTests {
    let controller = PersistenceController(inMemory: true)
    var context: NSManagedObjectContext { controller.container.viewContext }

    @Test func aContainersSubclassIsAskedForItsFolderStoresAndContexts() {
        let container = controller.container as? AppContainer
        #expect(container?.loads == 1)
        #expect(container?.newBackgroundContext().transactionAuthor == "background")
        #expect(AppContainer(name: "Other", managedObjectModel: PersistenceController.model).persistentStoreDescriptions.first?.url?.path.contains("heartwood-apps-") == true)
    }

    @Test func anObjectIsMadeOfAClassThatIsKnownOnlyAtRunTime() throws {
        let tag = make(Tag.self, in: context), chef = makeOfEntity(Chef.self, in: context), other = Chef.create(in: context)
        tag.name = "a"
        let same = type(of: other as NSManagedObject).init(context: context)
        #expect(same is Chef && chef.entity.name == "Chef" && Tag.className == "Tag" && tag.isInserted)
        try context.save()
        #expect(try everything(Chef.self, in: context).count == 3)
        #expect(try everything(Tag.self, in: context).map(\.name) == ["a"])
    }

    @Test func aClassMayOverrideTheInitializerThatFetchesAndInsertionsGoThrough() throws {
        let recipe = Recipe.insert(into: context, title: "Soup")
        let salt = Ingredient(name: "Salt", recipe: recipe, context: context), made = Ingredient(context: context)
        #expect(salt.recipe === recipe && made.label == "made" && make(Ingredient.self, in: context).label == "made")
        try context.save()
        let reader = controller.container.newBackgroundContext()
        try reader.performAndWait {
            let found = try reader.fetch(NSFetchRequest<Ingredient>(entityName: "Ingredient"))
            #expect(found.count == 3 && found.allSatisfy { $0.label == "made" })
            #expect(found.contains { $0.name == "Salt" })
        }
    }

    @Test func valuesOfEveryFormComeBack() throws {
        let recipe = Recipe.insert(into: context, title: "Pie")
        recipe.rating = 4
        recipe.difficulty = .hard
        recipe.course = .dessert
        recipe.status = .published
        recipe.isFavourite = true
        recipe.website = URL(string: "https://example.com/pie")
        recipe.price = NSDecimalNumber(string: "12.345678901234567890123")
        recipe.thumbnail = Data(repeating: 7, count: 200_000)
        recipe.flavours = ["sweet", "sour"]
        let id = recipe.identifier
        #expect(id != nil)
        try context.save()
        #expect(recipe.updatedAt == Date(timeIntervalSinceReferenceDate: 9))
        let reader = controller.container.newBackgroundContext()
        try reader.performAndWait {
            let read = try #require(Recipe.fetch(in: reader).first)
            #expect(read.isFault)
            #expect(read.rating?.intValue == 4 && read.difficulty == .hard && read.status == .published && read.isFavourite)
            #expect(read.website?.absoluteString == "https://example.com/pie")
            #expect(read.price == NSDecimalNumber(string: "12.345678901234567890123"))
            #expect(read.thumbnail?.count == 200_000 && read.flavours == ["sweet", "sour"])
            #expect(read.identifier == id && read.createdAt == Date(timeIntervalSinceReferenceDate: 5))
            #expect(read.value(forKey: "summary") as? String == "Pie, fetched")
            #expect(read.course == .dessert && read.value(forKey: "course") as? Int == 12)
            #expect(NSExpression(forKeyPath: \Recipe.course).keyPath == "course")
            #expect(!read.hasChanges && read.loads == 0)
            #expect(read.updatedAt == Date(timeIntervalSinceReferenceDate: 9))
            read.rating = nil
            try reader.save()
        }
        context.refresh(recipe, mergeChanges: false)
        #expect(recipe.rating == nil && recipe.value(forKey: "rating") == nil)
    }

    @Test func requestsKnowTheContextInWhoseBlockTheyAreExecuted() async throws {
        _ = Recipe.insert(into: context, title: "Pie")
        try context.save()
        let background = controller.container.newBackgroundContext()
        let request = Recipe.sortedFetchRequest
        let found = try background.performAndWait { try request.execute() }
        #expect(found.first?.managedObjectContext === background)
        let viewContext = context
        let isOfInner = try background.performAndWait {
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = background
            let inner = try child.performAndWait { try Recipe.sortedFetchRequest.execute().first?.managedObjectContext }
            let outer = try Recipe.sortedFetchRequest.execute().first?.managedObjectContext
            return inner === child && outer === background
        }
        #expect(isOfInner)
        let count = try await viewContext.perform { try Recipe.sortedFetchRequest.execute().count }
        #expect(count == 1)
        #expect(throws: (any Error).self) { try request.execute() }
        let escaped = await background.perform { Task { try Recipe.sortedFetchRequest.execute().count } }
        await #expect(throws: (any Error).self) { try await escaped.value }
    }

    @Test func aTagIsFoundOrMadeOnce() throws {
        for (title, names) in [("Soup", ["hot", "salty"]), ("Pie", ["hot", "sweet"])] {
            let recipe = Recipe.insert(into: context, title: title)
            for name in names { recipe.tags.insert(Tag.named(name, in: context)) }
        }
        try context.save()
        context.reset()
        #expect(Tag.count(in: context) == 3)
        let hot = Tag.named("hot", in: context)
        #expect(hot.recipes?.count == 2 && !context.hasChanges)
        let request = Recipe.sortedFetchRequest(
            with: NSPredicate(format: "ANY tags.name == %@ AND SUBQUERY(tags, $t, $t.name BEGINSWITH 's').@count == 1", "hot"))
        #expect(try context.fetch(request).map(\.title) == ["Pie", "Soup"])
        let soup = try #require(Recipe.findOrFetch(in: context, matching: NSPredicate(format: "title = 'Soup'")))
        hot.removeFromRecipes(soup)
        #expect(soup.sortedTags.map(\.name) == ["salty"])
        hot.addToRecipes(NSSet(object: soup))
        #expect(soup.tags.contains(hot))
        // A generated request for the class, to be deleted by.
        try context.save()
        let delete = NSBatchDeleteRequest(fetchRequest: Tag.fetchRequest())
        delete.resultType = .resultTypeObjectIDs
        let ids = (try context.execute(delete) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID] ?? []
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
        #expect(ids.count == 3 && soup.tags.isEmpty && hot.isDeleted && context.deletedObjects.contains(hot))
    }

    @Test func errorsOfASaveNameTheirKeyAndObject() throws {
        let poison = Recipe.insert(into: context, title: "Poison"), nameless = Recipe.insert(into: context, title: "")
        let untitled = NSEntityDescription.insertNewObject(forEntityName: "Recipe", into: context)
        do {
            try context.save()
            Issue.record("saved")
        } catch let error as NSError {
            #expect(error.domain == NSCocoaErrorDomain && error.code == NSValidationMultipleErrorsError)
            #expect((error as? CocoaError)?.code == .validationMultipleErrors)
            let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
            func of(_ object: NSManagedObject) -> NSError? {
                details.first { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object }
            }
            #expect(details.count == 3)
            #expect(of(poison)?.localizedDescription == "Not that." && of(poison)?.code == NSManagedObjectValidationError)
            #expect(of(nameless)?.code == NSValidationStringTooShortError && of(nameless)?.userInfo[NSValidationKeyErrorKey] as? String == "title")
            #expect(of(untitled)?.code == NSValidationMissingMandatoryPropertyError)
        }
        #expect(!context.saveOrRollback() && !context.hasChanges)
        _ = poison
    }

    @Test func aChefWithRecipesIsNotDeleted() throws {
        let chef = Chef(context: context), recipe = Recipe.insert(into: context, title: "Pie")
        recipe.chef = chef
        #expect(chef.recipes == [recipe])
        try context.save()
        context.delete(chef)
        #expect(throws: CocoaError.self) { try context.save() }
        do { try context.save() } catch CocoaError.validationRelationshipDeniedDelete {} catch { Issue.record("\(error)") }
        context.rollback()
        #expect(recipe.chef === chef && !chef.isDeleted)
    }

    @Test func anEditorInAChildContextUndoesAndCancels() throws {
        let recipe = Recipe.insert(into: context, title: "Pie")
        try context.save()
        let editor = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        editor.parent = context
        editor.undoManager = UndoManager()
        editor.undoManager?.groupsByEvent = false
        let draft = try #require(try editor.existingObject(with: recipe.objectID) as? Recipe)
        for title in ["Apple pie", "Plum pie"] {
            editor.undoManager?.beginUndoGrouping()
            draft.rename(title)
            editor.undoManager?.endUndoGrouping()
        }
        editor.undo()
        #expect(draft.title == "Apple pie" && recipe.title == "Pie")
        editor.rollback()
        #expect(draft.title == "Pie" && !editor.hasChanges)
        draft.rename("Cherry pie")
        #expect(draft.changedValues()["title"] as? String == "Cherry pie" && draft.committedValues(forKeys: ["title"])["title"] as? String == "Pie")
        try editor.save()
        #expect(recipe.title == "Cherry pie" && context.hasChanges && recipe.changedValues().keys.contains("title"))
        try context.save()
        #expect(recipe.title == "Cherry pie")
    }

    @Test func metadataIsSetWithoutAnErrorToHandle() {
        context.setMetaData(object: "token", forKey: "sync")
        #expect(context.metaData(forKey: "sync") as? String == "token" && context.metaData(forKey: NSStoreUUIDKey) != nil)
    }

    @Test func ordersAndKeyPathsReachTheEndOfAPath() throws {
        let recipe = Recipe.insert(into: context, title: "Pie"), other = Recipe.insert(into: context, title: "Soup")
        let salt = Ingredient(name: "Salt", recipe: recipe, context: context), oil = Ingredient(name: "Oil", recipe: recipe, context: context)
        #expect(recipe.ingredients.array as? [Ingredient] == [salt, oil])
        salt.mutableOrderedSetValue(forKeyPath: "recipe.ingredients").moveObjects(at: [1], to: 0)
        #expect(recipe.ingredients.array as? [Ingredient] == [oil, salt])
        let tag = Tag(name: "hot", context: context)
        salt.mutableSetValue(forKeyPath: "recipe.tags").add(tag)
        #expect(recipe.tags == [tag] && other.tags.isEmpty && recipe.mutableSetValue(forKeyPath: "tags").count == 1)
        let copy = recipe.ingredients.mutableCopy() as! NSMutableOrderedSet
        copy.remove(oil)
        recipe.ingredients = copy
        #expect(oil.recipe == nil && recipe.ingredients.count == 1)
        let hashes = recipe.entity.propertiesByName.mapValues(\.versionHash)
        #expect(Set(hashes.values).count == hashes.count && recipe.entity.managedObjectModel.entities.count == 17)
        #expect(hashes["title"] == (PersistenceController.model.copy() as? NSManagedObjectModel)?.entitiesByName["Recipe"]?.propertiesByName["title"]?.versionHash)
    }
}

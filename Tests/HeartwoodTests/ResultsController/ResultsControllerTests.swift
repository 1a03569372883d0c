import Foundation
import Testing

@testable import Heartwood

/// A person whose key `initial` is not a property of its entity.
final class InitialedPerson: NSManagedObject {
    override func value(forKey key: String) -> Any? {
        key == "initial" ? (super.value(forKey: "name") as? String).map { String($0.prefix(1)) } : super.value(forKey: key)
    }
}

@Suite struct ResultsControllerTests {
    private func stack(_ kind: StoreKind = .inMemory) throws -> TestStack {
        let stack = try TestStack(kind)
        let art = stack.insert("Group", ["title": "Art"]), law = stack.insert("Group", ["title": "Law"])
        for (name, age, group) in [("ada", 3, art), ("bob", 2, law), ("cid", 3, law), ("dan", 1, nil)] {
            stack.insert("Person", ["name": name, "age": age]).setValue(group, forKey: "group")
        }
        try stack.context.save()
        return stack
    }

    @Test(arguments: StoreKind.allCases)
    func `The results are in order and in sections`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let plain = stack.controller()
        #expect(plain.fetchedObjects == nil && plain.sections == nil)
        try plain.performFetch()
        #expect(plain.fetchedObjects?.map(\.name) == ["ada", "bob", "cid", "dan"])
        #expect(plain.sections?.count == 1 && plain.sections?[0].name == "" && plain.sections?[0].numberOfObjects == 4)

        let ages = stack.controller(sort: ["-age", "name"], sections: "age")
        try ages.performFetch()
        #expect(ages.shown == "3: ada cid | 2: bob | 1: dan")
        #expect(ages.object(at: IndexPath(row: 1, section: 0)).name == "cid")
        #expect(ages.object(at: IndexPath(item: 0, section: 2)).name == "dan")
        for object in ages.fetchedObjects ?? [] {
            let path = try #require(ages.indexPath(forObject: object))
            #expect(ages.object(at: path) === object && path == IndexPath(row: path.row, section: path.section) && path.item == path.row)
        }
        #expect(ages.sections?.map(\.indexTitle) == ["3", "2", "1"])
        #expect(ages.fetchRequest.entityName == "Person" && ages.managedObjectContext === stack.context && ages.cacheName == nil)
        let other = stack.anew()
        #expect(ages.indexPath(forObject: try #require(try stack.fetch("Person", in: other).first as? Person)) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `Sections can be named through relationships, and null has no name`(kind: StoreKind) throws {
        let controller = try stack(kind)
        let groups = controller.controller(sort: ["group.title", "name"], sections: "group.title")
        try groups.performFetch()
        #expect(groups.shown == ": dan | Art: ada | Law: bob cid")
        #expect(groups.sectionIndexTitles == ["", "A", "L"])
        #expect(groups.section(forSectionIndexTitle: "L", at: 2) == 2)
        #expect(groups.section(forSectionIndexTitle: "Z", at: 0) == NSNotFound)
    }

    @Test
    func `Sections may be named by a class's own property`() throws {
        let model = TestStack.model()
        model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(InitialedPerson.self)
        let stack = try TestStack(.inMemory, model: model)
        for name in ["ada", "amy", "bob"] { stack.insert("Person", ["name": name]) }
        try stack.context.save()
        let request = NSFetchRequest<InitialedPerson>(entityName: "Person")
        request.includesSubentities = false
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: "initial", cacheName: nil)
        let mirror = ListMirror()
        controller.delegate = mirror
        try controller.performFetch()
        #expect(controller.shown == "a: ada amy | b: bob")
        stack.insert("Person", ["name": "abe"])
        stack.context.processPendingChanges()
        #expect(controller.shown == "a: abe ada amy | b: bob")
    }

    @Test
    func `Unsaved changes are part of the results`() throws {
        let stack = try stack()
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)])
        stack.insert("Person", ["name": "eve", "age": 2])
        stack.context.delete(people[0])
        people[1].setValue(3, forKey: "age")
        let controller = stack.controller("age > 1", sort: ["age", "name"], sections: "age")
        try controller.performFetch()
        #expect(controller.shown == "2: eve | 3: bob cid")
        let stored = stack.controller("age > 1", sort: ["age", "name"], sections: "age") { $0.includesPendingChanges = false }
        try stored.performFetch()
        #expect(stored.sections?.map(\.numberOfObjects) == [1, 2])
    }

    @Test
    func `A fetch with missing settings fails with a clear error`() throws {
        let stack = try stack()
        func failure(_ controller: NSFetchedResultsController<Person>) -> (code: Int, text: String)? {
            do {
                try controller.performFetch()
                return nil
            } catch {
                return ((error as NSError).code, error.localizedDescription)
            }
        }
        let unsorted = failure(stack.controller { $0.sortDescriptors = nil })
        #expect(unsorted?.code == NSCoreDataError && unsorted?.text.contains("sort descriptors") == true)
        let mixed = failure(stack.controller(sort: ["name"], sections: "age"))
        #expect(mixed?.code == NSCoreDataError && mixed?.text.contains("\"3\"") == true && mixed?.text.contains("sorted by \"age\" first") == true)
        #expect(failure(stack.controller(sort: ["name"], sections: "a..b"))?.code == NSCoreDataError)
        #expect(failure(stack.controller { $0.resultType = .countResultType })?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(failure(stack.controller { $0.resultType = .managedObjectIDResultType })?.text.contains("not Person") == true)
        let groups = NSFetchRequest<NSManagedObject>(entityName: "Group")
        groups.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: groups, managedObjectContext: stack.context, sectionNameKeyPath: "titel", cacheName: nil)
        #expect { try controller.performFetch() } throws: { ($0 as NSError).code == NSCoreDataError && "\($0)".contains("titel") }
    }

    @Test
    func `A failed fetch leaves the results as they were`() throws {
        let stack = try stack()
        let controller = stack.controller(sort: ["age", "name"], sections: "age")
        try controller.performFetch()
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        #expect(throws: (any Error).self) { try controller.performFetch() }
        #expect(controller.shown == "1: dan | 2: bob | 3: ada cid")
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "name", ascending: true)]
        controller.fetchRequest.predicate = NSPredicate(format: "age > 1")
        #expect(controller.shown == "1: dan | 2: bob | 3: ada cid")
        try controller.performFetch()
        #expect(controller.shown == "3: ada cid | 2: bob")
    }

    @Test
    func `Results may be IDs and dictionaries too`() throws {
        let stack = try stack()
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        ids.resultType = .managedObjectIDResultType
        ids.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: true)]
        let context = stack.anew()
        let controller = NSFetchedResultsController(fetchRequest: ids, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
        try controller.performFetch()
        #expect(context.identities.count == 0)
        #expect(controller.sections?.map(\.name) == ["1", "2", "3"])
        let last = controller.object(at: IndexPath(item: 1, section: 2))
        #expect(context.object(with: last).value(forKey: "name") as? String == "cid")
        #expect(controller.indexPath(forObject: last) == IndexPath(item: 1, section: 2))

        let rows = NSFetchRequest<NSDictionary>(entityName: "Person")
        rows.resultType = .dictionaryResultType
        rows.propertiesToFetch = ["name", "age"]
        rows.sortDescriptors = ids.sortDescriptors
        let table = NSFetchedResultsController(fetchRequest: rows, managedObjectContext: stack.context, sectionNameKeyPath: "age", cacheName: nil)
        let mirror = ListMirror()
        table.delegate = mirror
        try table.performFetch()
        #expect(table.fetchedObjects?.compactMap { $0["name"] as? String } == ["dan", "bob", "ada", "cid"])
        #expect(table.sections?.map(\.numberOfObjects) == [1, 1, 2])
        #expect(table.sections?[2].objects?.count == 2)
        #expect(table.indexPath(forObject: table.object(at: IndexPath(row: 0, section: 1))) == IndexPath(row: 0, section: 1))
        stack.insert("Person", ["name": "eve", "age": 9])
        stack.context.processPendingChanges()
        #expect(mirror.log.isEmpty && table.fetchedObjects?.count == 4)
    }

    @Test
    func `Subclasses may name index titles`() throws {
        final class Titled: NSFetchedResultsController<Person> {
            override func sectionIndexTitle(forSectionName sectionName: String) -> String? { sectionName == "2" ? nil : "<\(sectionName)>" }
        }
        final class Namer: NSFetchedResultsControllerDelegate {
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
            ) -> String? { sectionName == "1" ? nil : "same" }
        }
        let stack = try stack()
        let request = stack.controller(sort: ["age", "name"]).fetchRequest
        let titled = Titled(fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: "age", cacheName: nil)
        try titled.performFetch()
        #expect(titled.sectionIndexTitles == ["<1>", "<3>"])
        #expect(titled.section(forSectionIndexTitle: "<3>", at: 1) == 2)
        let plain = stack.controller(sort: ["age", "name"], sections: "age"), namer = Namer()
        plain.delegate = namer
        try plain.performFetch()
        #expect(plain.sectionIndexTitles == ["same"] && plain.sections?.map(\.indexTitle) == [nil, "same", "same"])
        #expect(AnyFetchedResultsController.capitalLetter(of: "élan") == "É" && AnyFetchedResultsController.capitalLetter(of: "") == "")
    }

    @Test
    func `Section names are the text of the values`() {
        #expect(PredicateValue.null.sectionName == "")
        #expect(PredicateValue.bool(true).sectionName == "1" && PredicateValue.integer(-7).sectionName == "-7")
        #expect(PredicateValue.double(2).sectionName == "2" && PredicateValue.double(2.5).sectionName == "2.5")
        #expect(PredicateValue.date(0).sectionName == Date(timeIntervalSinceReferenceDate: 0).description)
        #expect(PredicateValue.decimal(Decimal(string: "1.50") ?? 0).sectionName == "1.5")
        // Composed and decomposed letters are two sections, as they are different in the order.
        #expect(!PredicateValue.text("e\u{301}").isSameSection(as: .text("\u{e9}")))
    }

    @Test
    func `The context is retained; the controller and its delegate are not`() throws {
        let stack = try stack()
        weak var context: NSManagedObjectContext?
        weak var mirror: ListMirror?
        var controller: NSFetchedResultsController<Person>?
        do {
            let own = stack.newContext(), delegate = ListMirror()
            context = own
            mirror = delegate
            controller = stack.controller(in: own)
            controller?.delegate = delegate
            try controller?.performFetch()
            #expect(own.isTracked)
        }
        #expect(context != nil && mirror == nil)
        let own = try #require(context)
        weak let gone = controller
        controller = nil
        #expect(gone == nil)
        stack.insert("Person", ["name": "eve"], into: own)
        own.processPendingChanges()
        #expect(!own.isTracked)
    }

    @Test
    func `A cache is valid for its request and its commit`() throws {
        let stack = try stack()
        NSFetchedResultsController<Person>.deleteCache(withName: nil)
        func asked(_ sort: [String] = ["age", "name"], _ format: String? = nil) throws -> (shown: String, names: Int) {
            let controller = stack.controller(format, sort: sort, sections: "age", cache: "people", in: stack.anew()) { $0.fetchBatchSize = 2 }
            let query = try ResultsQuery(
                try FetchSpecification(controller.fetchRequest, context: controller.managedObjectContext),
                asks: ResultsTerms(controller.fetchRequest), sectionNameKeyPath: "age", controller.managedObjectContext)
            let store = stack.persistentStore
            let cache = SectionCache(name: "people", query, store, try controller.managedObjectContext.view(of: store))
            let known = cache?.sections?.sections.count ?? 0
            try controller.performFetch()
            return (controller.shown, known)
        }
        #expect(try asked() == ("1: dan | 2: bob | 3: ada cid", 0))
        #expect(try asked() == ("1: dan | 2: bob | 3: ada cid", 3))
        // A cache of another request.
        #expect(try asked(["-age", "name"]) == ("3: ada cid | 2: bob | 1: dan", 0))
        #expect(try asked(["-age", "name"], "age > 1") == ("3: ada cid | 2: bob", 0))
        #expect(try asked(["-age", "name"], "age > 1").names == 2)
        // A cache from before a commit.
        stack.insert("Person", ["name": "eve", "age": 7])
        try stack.context.save()
        #expect(try asked(["-age", "name"], "age > 1") == ("7: eve | 3: ada cid | 2: bob", 0))
        #expect(try asked(["-age", "name"], "age > 1").names == 3)
        NSFetchedResultsController<Person>.deleteCache(withName: "others")
        #expect(try asked(["-age", "name"], "age > 1").names == 3)
        NSFetchedResultsController<Person>.deleteCache(withName: "people")
        #expect(try asked(["-age", "name"], "age > 1").names == 0)
    }
}

import CoreData
import Foundation
import Testing

// A view context is the main queue's.
@MainActor @Suite struct WorldTests {
    let container = PersistenceController(inMemory: true).container
    var context: NSManagedObjectContext { container.viewContext }

    @Test func aCountryIsFoundOrMadeWithItsContinent() throws {
        let france = Country.findOrCreate(for: 101, in: context), peru = Country.findOrCreate(for: 201, in: context)
        let spain = Country.findOrCreate(for: 102, in: context)
        #expect(Country.findOrCreate(for: 101, in: context) === france)
        #expect(context.saveOrRollback())
        let europe = try #require(france.value(forKey: "continent") as? Continent)
        #expect(europe.numberOfCountries == 2 && spain.value(forKey: "continent") as? Continent === europe && Country.count(in: context) == 3)
        #expect(Region.count(in: context) == 5 && Country.count(without: peru, in: context) == 2)
        context.delete(peru)
        #expect(context.saveOrRollback() && Continent.count(in: context) == 1)
        let request = Region.sortedFetchRequest(with: NSPredicate(format: "code > %d", 100))
        #expect(try context.fetch(request).count == 2)
        spain.markForLocalDeletion()
        #expect(spain.changedForDelayedDeletion)
        #expect(try context.fetch(request) == [france])
    }

    @Test func anObserverHearsWhatBecomesOfItsObject() throws {
        let country = Country.findOrCreate(for: 101, in: context)
        try context.save()
        var heard: [ManagedObjectObserver.ChangeType] = []
        let observer = ManagedObjectObserver(object: country) { heard.append($0) }
        #expect(observer != nil)
        country.refreshUpdateDate()
        context.processPendingChanges()
        Country.findOrCreate(for: 102, in: context).refresh()
        context.processPendingChanges()
        #expect(heard == [.update])
        country.refresh(false)
        context.processPendingChanges()
        #expect(heard == [.update, .update])
        context.delete(country)
        context.processPendingChanges()
        #expect(heard == [.update, .update, .delete])
        #expect(ManagedObjectObserver(object: Country.findOrCreate(for: 103, in: context)) { _ in } != nil)
    }

    @Test func savesOfOneContextAreMergedIntoAnotherByTheirNotification() async throws {
        let sync = container.newBackgroundContext(), view = context
        view.automaticallyMergesChangesFromParent = false
        var described: [String] = []
        let token = sync.addContextDidSaveNotificationObserver { note in
            described.append(note.debugDescription)
            #expect(note.managedObjectContext === sync && Array(note.deletedObjects).isEmpty)
            view.performMergeChanges(from: note)
        }
        let id = try await sync.perform {
            let country = Country.findOrCreate(for: 101, in: sync)
            try sync.save()
            #expect(Array([country].remap(to: sync)) == [country])
            return country.objectID
        }
        let seen = await view.perform { (view.object(with: id) as? Country)?.code }
        #expect(seen == 101)
        #expect(
            described.count == 1 && described[0].contains("inserted: {") && described[0].contains("/Country/")
                && !described[0].contains("inserted: {}"))
        NotificationCenter.default.removeObserver(token)
        let saved = await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            sync.perform(group: group) {
                Country.findOrCreate(for: 102, in: sync).refreshUpdateDate()
                sync.delayedSaveOrRollback(group: group) { continuation.resume(returning: $0) }
            }
        }
        #expect(saved && described.count == 1)
    }

    @Test func faultsAreFetchedTogetherAndASingleObjectIsRemembered() throws {
        for code in Int16(101)...110 { _ = Country.findOrCreate(for: code, in: context) }
        try context.save()
        let reader = container.newBackgroundContext()
        reader.performAndWait {
            let countries = Country.fetch(in: reader)
            #expect(countries.allSatisfy { $0.isFault })
            countries.fetchFaults()
            #expect(!countries.contains { $0.isFault })
            func single(_ code: Int) -> Country? {
                Country.fetchSingleObject(in: reader, cacheKey: "single") { $0.predicate = NSPredicate(format: "code == %ld", code) }
            }
            #expect(single(103)?.code == 103 && single(104)?.code == 103)
            reader.set(nil, forSingleObjectCacheKey: "single")
            #expect(single(999) == nil && single(104)?.code == 104)
        }
    }
}

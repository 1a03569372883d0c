import CoreData
import Foundation
import Testing

/// Classes in one type that name each other without that type's name.
enum Office {
    class Team: NSManagedObject {
        @NSManaged var title: String
        @NSManaged var desks: Set<Desk>
        @NSManaged var lead: Desk?
        @NSManaged func addToDesks(_ value: Desk)
        @NSManaged func removeFromDesks(_ value: Office.Desk)
        @NSManaged func addToDesks(_ values: NSSet)
    }

    final class Desk: NSManagedObject {
        typealias Owner = Team
        @NSManaged var number: Int64
        @NSManaged var team: Owner?

        struct Drawer { final class Lock: NSManagedObject {} }
    }
}

/// A class in another type with a name that is also here.
enum Shop {
    final class Desk: NSManagedObject {}
}

private final class Hidden: NSManagedObject {}

struct NestedClassTests {
    private func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let container = NSPersistentContainer(name: "Nested", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container.viewContext
    }

    @MainActor @Test
    func `Classes in one type have managed properties of each other's class`() throws {
        let context = try context(PersistenceController.model)
        let team = Office.Team(context: context), desk = Office.Desk(context: context), other = Office.Desk(context: context)
        (team.title, desk.number, team.lead) = ("T", 4, desk)
        team.addToDesks(desk)
        team.addToDesks(NSSet(object: other))
        #expect(team.desks == [desk, other] && desk.team === team && other.team === team)
        team.removeFromDesks(other)
        team.desks.insert(other)
        try context.save()
        context.reset()
        let found = try #require(try context.fetch(NSFetchRequest<Office.Team>(entityName: "Team")).first)
        #expect(found.title == "T" && found.lead?.number == 4 && found.desks.count == 2)
        #expect(Office.Team.entity().name == "Team" && Office.Desk.entity().name == "Desk")
    }

    @MainActor @Test
    func `Each class has a name by which it is found`() throws {
        final class Local: NSManagedObject {}
        final class LocalDesk: NSManagedObject {}
        let classes: [AnyClass] = [
            Office.Desk.self, Office.Desk.Drawer.Lock.self, Shop.Desk.self, Hidden.self, Local.self, LocalDesk.self, Recipe.self, NSManagedObject.self,
            NSObject.self, NSMutableArray.self,
        ]
        let names = classes.map(NSStringFromClass)
        #expect(Set(names).count == classes.count && names == classes.map(NSStringFromClass))
        for (name, type): (String, AnyClass) in zip(names, classes) { #expect(NSClassFromString(name) == type, "\(name)") }
        #expect(names[0] == "AppCodeTests.Office.Desk" && names[3] == "AppCodeTests.Hidden" && names[8] == "NSObject")
        for name in ["", ".", "..", "a.b", "AppCodeTests.Office.None", "AppCodeTests.Office.Desk.Drawer.Lock.More.And.More", "(x).y.z", "Nothing"] {
            #expect(NSClassFromString(name) == nil, "\(name)")
        }
        // Objects are of the classes that the entities of a model in code name.
        let model = NSManagedObjectModel()
        model.entities = names.prefix(6).enumerated().map { index, name in
            let entity = NSEntityDescription()
            (entity.name, entity.managedObjectClassName) = ("E\(index)", name)
            return entity
        }
        let context = try context(model)
        for (index, type): (Int, AnyClass) in classes.prefix(6).enumerated() {
            let object = NSEntityDescription.insertNewObject(forEntityName: "E\(index)", into: context)
            #expect(Swift.type(of: object) == type, "\(names[index])")
        }
        #expect(Hidden.entity().name == "E3" && Shop.Desk(context: context).entity.name == "E2")
    }

    @MainActor @Test
    func `A name in another type is found without the module`() throws {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        (entity.name, entity.managedObjectClassName) = ("Desk", "Shop.Desk")
        model.entities = [entity]
        #expect(NSEntityDescription.insertNewObject(forEntityName: "Desk", into: try context(model)) is Shop.Desk)
    }
}

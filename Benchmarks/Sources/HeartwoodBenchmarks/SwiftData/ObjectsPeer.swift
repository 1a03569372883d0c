import Foundation
import Heartwood

final class ObjectPerson: NSManagedObject {
    @NSManaged var name: String
    @NSManaged var email: String
    @NSManaged var age: Int64
    @NSManaged var score: Double
    @NSManaged var birthday: Double
    @NSManaged var note: String
    @NSManaged var group: ObjectGroup?
}

final class ObjectGroup: NSManagedObject {
    @NSManaged var title: String
}

/// Managed objects with `@NSManaged`, and with the history and the merge policy that models have.
final class ObjectsPeer: ModelPeer {
    static let name = "managed objects"

    private let path: String
    private let generator: PersonGenerator
    private var container: NSPersistentContainer?
    private var context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    private var held: [ObjectPerson] = []

    init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    func open() throws {
        let model = HeartwoodPeer.model()
        model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(ObjectPerson.self)
        model.entitiesByName["Grp"]?.managedObjectClassName = NSStringFromClass(ObjectGroup.self)
        let container = NSPersistentContainer(name: "People", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 ?? failure }
        if let failure { throw failure }
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        self.container = container
    }

    func close() throws {
        held = []
        context.reset()
        guard let coordinator = container?.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        container = nil
    }

    private var request: NSFetchRequest<ObjectPerson> { NSFetchRequest(entityName: "Person") }

    func insertAll() throws {
        var groups: [ObjectGroup] = []
        for number in 0..<generator.groupCount {
            let group = ObjectGroup(context: context)
            group.title = "group \(number)"
            groups.append(group)
        }
        for number in 0..<generator.count {
            let data = generator.person(number), person = ObjectPerson(context: context)
            (person.name, person.email, person.age) = (data.name, data.email, Int64(data.age))
            (person.score, person.birthday, person.note) = (data.score, data.birthday, data.note)
            person.group = groups[data.group]
            if (number + 1) % 10_000 == 0 { try context.save() }
        }
        try context.save()
    }

    func firstName() throws -> String {
        let request = request
        request.fetchLimit = 1
        return try context.fetch(request).first?.name ?? ""
    }

    func fetch(bornIn birthdays: Range<Double>, reads: Bool) throws -> UInt64 {
        let request = request
        request.predicate = NSPredicate(format: "birthday >= %lf AND birthday < %lf", birthdays.lowerBound, birthdays.upperBound)
        let people = try context.fetch(request)
        guard reads else { return UInt64(people.count) }
        var sum = Checksum()
        for person in people { sum.add(Int(person.age)) }
        return sum.value
    }

    /// By IDs, five thousand at a time as models by default.
    func enumerate() throws -> UInt64 {
        var sum = Checksum()
        let all = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        all.resultType = .managedObjectIDResultType
        let ids = try context.fetch(all)
        for start in stride(from: 0, to: ids.count, by: 5000) {
            let request = request
            request.predicate = NSPredicate(format: "SELF IN %@", Array(ids[start..<min(start + 5000, ids.count)]))
            for person in try context.fetch(request) {
                sum.add(person.name)
                sum.add(Int(person.age))
            }
            context.reset()
        }
        return sum.value
    }

    func hold(_ count: Int) throws {
        let request = request
        request.fetchLimit = count
        held = try context.fetch(request)
    }

    func change(to score: Double) throws {
        for person in held { person.score = score }
        try context.save()
    }
}

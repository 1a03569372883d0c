import Foundation
import Heartwood

/// Heartwood through managed objects and a context.
class HeartwoodPeer: Peer {
    class var name: String { "Heartwood" }

    var options: [AnyHashable: Any]? { nil }
    var storeType: String { NSRecordLogStoreType }

    fileprivate let path: String
    private let generator: PersonGenerator
    fileprivate var coordinator: NSPersistentStoreCoordinator?
    fileprivate(set) var context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    fileprivate let model = HeartwoodPeer.model()

    required init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    func open() throws {
        context = try Self.context(at: URL(fileURLWithPath: path), model, type: storeType, options: options)
        coordinator = context.persistentStoreCoordinator
    }

    /// A context with a store of its own.
    static func context(
        at url: URL, _ model: NSManagedObjectModel, type: String = NSRecordLogStoreType, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func close() throws {
        groups = []
        for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
        coordinator = nil
    }

    func bulkInsert() throws {
        var groups: [ManagedGroup] = []
        for number in 0..<generator.groupCount {
            let group = ManagedGroup(context: context)
            group.title = "group \(number)"
            groups.append(group)
        }
        for number in 0..<generator.count {
            let data = generator.person(number)
            insert(data).group = groups[data.group]
            if (number + 1) % 10_000 == 0 { try context.save() }
        }
        try context.save()
    }

    /// The ID of a person. Rows are numbered in the order of insertion, as persons are.
    private func id(_ number: Int) throws -> NSManagedObjectID {
        let store = coordinator?.persistentStores.first?.identifier ?? ""
        guard let url = URL(string: "x-coredata://\(store)/Person/p\(number + 1)"), let id = coordinator?.managedObjectID(forURIRepresentation: url) else {
            throw PeerError(description: "there is no person \(number)")
        }
        return id
    }

    private(set) var ids: [Int: NSManagedObjectID] = [:]

    /// Applications keep IDs, so making them is not part of a look-up.
    func prepareIDs(_ numbers: [Int]) throws {
        ids = try Dictionary(uniqueKeysWithValues: numbers.map { ($0, try id($0)) })
    }

    private func person(_ number: Int) throws -> ManagedPerson? {
        guard let id = ids[number] else { return nil }
        return context.object(with: id) as? ManagedPerson
    }

    private func insert(_ data: PersonData) -> ManagedPerson {
        let person = ManagedPerson(context: context)
        person.name = data.name
        person.email = data.email
        person.age = data.age
        person.score = data.score
        person.birthday = data.birthday
        person.note = data.note
        return person
    }

    /// The groups, which an application that inserts persons would have loaded.
    private var groups: [ManagedGroup] = []

    func insertOne(_ person: PersonData) throws {
        if groups.isEmpty { groups = try context.fetch(NSFetchRequest<ManagedGroup>(entityName: "Grp")) }
        insert(person).group = groups[person.group]
        try context.save()
    }

    func saveOne(_ number: Int) throws {
        guard let person = try person(number) else { return }
        person.score = Double(number)
        person.birthday = Double(number)
        try context.save()
    }

    func firstName() throws -> String {
        (context.object(with: try id(0)) as? ManagedPerson)?.name ?? ""
    }

    func pointByID(_ numbers: [Int]) throws -> UInt64? {
        var sum = Checksum()
        for number in numbers {
            guard let person = try person(number) else { continue }
            sum.add(person.name)
            sum.add(person.age)
        }
        return sum.value
    }

    func byEmail(_ emails: [String]) throws -> UInt64? {
        var sum = Checksum()
        for email in emails {
            let request = NSFetchRequest<ManagedPerson>(entityName: "Person")
            request.predicate = NSPredicate(format: "email == %@", email)
            request.fetchLimit = 1
            if let person = try context.fetch(request).first { sum.add(person.age) }
        }
        return sum.value
    }

    func ranges(_ birthdays: [Double]) throws -> UInt64? {
        var sum = Checksum()
        for birthday in birthdays {
            for person in try context.fetch(range(birthday)) { sum.add(person.age) }
        }
        return sum.value
    }

    func rangeValues(_ birthdays: [Double]) throws -> UInt64? {
        var sum = Checksum()
        for birthday in birthdays {
            for age in try context.values(range(birthday), \.age) { sum.add(age) }
        }
        return sum.value
    }

    private func range(_ birthday: Double) -> NSFetchRequest<ManagedPerson> {
        let request = NSFetchRequest<ManagedPerson>(entityName: "Person")
        request.predicate = NSPredicate(format: "birthday >= %lf", birthday)
        request.sortDescriptors = [NSSortDescriptor(key: "birthday", ascending: true)]
        request.fetchLimit = 100
        return request
    }

    func scan() throws -> UInt64? {
        let request = NSFetchRequest<ManagedPerson>(entityName: "Person")
        request.predicate = NSPredicate(format: "age > 40 AND note CONTAINS 'tree'")
        return UInt64(try context.count(for: request))
    }

    func readAll() throws -> UInt64? {
        var sum = Checksum()
        for person in try context.fetch(NSFetchRequest<ManagedPerson>(entityName: "Person")) {
            sum.add(person.name)
            sum.add(person.age)
        }
        return sum.value
    }

    func readValues() throws -> UInt64? {
        var sum = Checksum()
        for (name, age) in try context.values(NSFetchRequest<ManagedPerson>(entityName: "Person"), \.name, \.age) {
            sum.add(name)
            sum.add(age)
        }
        return sum.value
    }

    func readStructures() throws -> UInt64? {
        var sum = Checksum()
        for row in try context.values(NSFetchRequest<ManagedPerson>(entityName: "Person"), as: PersonRow.self) {
            sum.add(row.name)
            sum.add(row.age)
        }
        return sum.value
    }

    func writeLines() throws -> UInt64? {
        let process = Process()
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("heartwood")
        process.arguments = ["export", path, "--entity", "Person"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw PeerError(description: "heartwood export failed") }
        return 0
    }

    func walkGroups() throws -> UInt64? {
        var sum = Checksum()
        for group in try context.fetch(NSFetchRequest<ManagedGroup>(entityName: "Grp")) {
            for case let person as ManagedPerson in group.people { sum.add(person.age) }
        }
        return sum.value
    }

    func memberValues() throws -> UInt64? {
        var sum = Checksum()
        for group in try context.fetch(NSFetchRequest<ManagedGroup>(entityName: "Grp")) {
            let members = NSFetchRequest<ManagedPerson>(entityName: "Person")
            members.predicate = NSPredicate(format: "group == %@", group)
            for age in try context.values(members, \.age) { sum.add(age) }
        }
        return sum.value
    }

    func update(_ numbers: [Int]) throws -> UInt64? {
        for number in numbers { try person(number)?.age += 1 }
        try context.save()
        return UInt64(numbers.count)
    }

    func delete(_ numbers: [Int]) throws -> UInt64? {
        for number in numbers {
            if let person = try person(number) { context.delete(person) }
        }
        try context.save()
        return UInt64(numbers.count)
    }

    func compact() throws -> UInt64? {
        guard let store = coordinator?.persistentStores.first else { return nil }
        try store.compactRecordLog()
        return 0
    }

    static func model() -> NSManagedObjectModel {
        let person = NSEntityDescription(), group = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = NSStringFromClass(ManagedPerson.self)
        group.name = "Grp"
        group.managedObjectClassName = NSStringFromClass(ManagedGroup.self)
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        let birthday = attribute("birthday", .doubleAttributeType)
        let toGroup = NSRelationshipDescription(), people = NSRelationshipDescription()
        toGroup.name = "group"
        toGroup.destinationEntity = group
        toGroup.maxCount = 1
        people.name = "people"
        people.destinationEntity = person
        toGroup.inverseRelationship = people
        people.inverseRelationship = toGroup
        person.properties = [
            attribute("name", .stringAttributeType), attribute("email", .stringAttributeType), attribute("age", .integer64AttributeType),
            attribute("score", .doubleAttributeType), birthday, attribute("note", .stringAttributeType), toGroup,
        ]
        person.uniquenessConstraints = [["email"]]
        person.indexes = [NSFetchIndexDescription(
            name: "byBirthday", elements: [NSFetchIndexElementDescription(property: birthday, collationType: .binary)])]
        group.properties = [attribute("title", .stringAttributeType), people]
        let model = NSManagedObjectModel()
        model.entities = [person, group]
        return model
    }
}

/// Heartwood whose commits do not wait for the disk.
final class RelaxedHeartwoodPeer: HeartwoodPeer {
    override var options: [AnyHashable: Any]? { [NSRecordLogDurabilityOption: "relaxed"] }
}

/// Opens the store through a container.
final class ContainerPeer: HeartwoodPeer {
    override class var name: String { "Heartwood container" }

    override func open() throws {
        let container = NSPersistentContainer(name: "People", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: path))]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 ?? failure }
        if let failure { throw failure }
        coordinator = container.persistentStoreCoordinator
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }
}

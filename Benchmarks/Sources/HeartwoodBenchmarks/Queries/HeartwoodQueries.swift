import Foundation
@_spi(GeneratedCode) import Heartwood

/// Queries through fetch requests, dictionaries and batch requests.
final class HeartwoodQueries: QueryPeer {
    static var name: String { "Heartwood" }

    private let peer: HeartwoodPeer
    private let packagesURL: URL
    private let phrasesURL: URL
    private var packages: NSManagedObjectContext?
    private var phrases: NSManagedObjectContext?

    init(directory: URL, generator: PersonGenerator) throws {
        peer = try HeartwoodPeer(path: directory.appendingPathComponent("people.heartwood").path, generator: generator)
        packagesURL = directory.appendingPathComponent("packages.heartwood")
        phrasesURL = directory.appendingPathComponent("phrases.heartwood")
    }

    func fill(phrases lines: [String], packages: [PackageData]) throws {
        try peer.open()
        try peer.bulkInsert()
        try peer.close()
        try open()
        guard let phraseContext = phrases, let context = self.packages else { return }
        var next = 0
        let request = NSBatchInsertRequest(entityName: "Phrase", dictionaryHandler: { row in
            guard next < lines.count else { return true }
            row["text"] = lines[next]
            next += 1
            return false
        })
        _ = try phraseContext.execute(request)
        var known: [String: ManagedPackage] = [:]
        for data in packages {
            let package = ManagedPackage(context: context)
            package.setManagedString(data.name, at: 0)
            package.setManagedInteger(Int64(data.size ?? 0), at: 1)
            known[data.name] = package
        }
        for data in packages {
            guard let package = known[data.name] else { continue }
            let targets = (data.depends ?? []).compactMap { known[$0] }
            if !targets.isEmpty { package.setValue(NSSet(array: targets), forKey: "depends") }
        }
        try context.save()
        try close()
    }

    func open() throws {
        try peer.open()
        packages = try HeartwoodPeer.context(at: packagesURL, ManagedPackage.model())
        phrases = try HeartwoodPeer.context(at: phrasesURL, ManagedPhrase.model())
    }

    func close() throws {
        try peer.close()
        for context in [packages, phrases] {
            guard let coordinator = context?.persistentStoreCoordinator else { continue }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        (packages, phrases) = (nil, nil)
    }

    func forget() {
        for context in [peer.context, packages, phrases] as [NSManagedObjectContext?] { context?.reset() }
    }

    func byEmail(_ emails: [String]) throws -> UInt64? { try peer.byEmail(emails) }
    func ranges(_ birthdays: [Double]) throws -> UInt64? { try peer.ranges(birthdays) }
    func count() throws -> UInt64? { try peer.scan() }

    func phrases(with word: String) throws -> UInt64? {
        let request = NSFetchRequest<ManagedPhrase>(entityName: "Phrase")
        request.predicate = NSPredicate(format: "text CONTAINS[cd] %@", word)
        return try phrases.map { UInt64(try $0.count(for: request)) }
    }

    func lowestScores() throws -> UInt64? {
        let request = NSFetchRequest<ManagedPerson>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "score", ascending: true)]
        request.fetchLimit = 100
        var sum = Checksum()
        for person in try peer.context.fetch(request) { sum.add(person.age) }
        return sum.value
    }

    func members(ofGroups titles: [String]) throws -> UInt64? {
        var sum = Checksum()
        for title in titles {
            let request = NSFetchRequest<ManagedPerson>(entityName: "Person")
            request.predicate = NSPredicate(format: "group.title == %@", title)
            for person in try peer.context.fetch(request) { sum.add(person.age) }
        }
        return sum.value
    }

    func dependents(ofPackages names: [String]) throws -> UInt64? {
        guard let packages else { return nil }
        var sum = Checksum()
        for name in names {
            let request = NSFetchRequest<ManagedPackage>(entityName: "Package")
            request.predicate = NSPredicate(format: "ANY depends.name == %@", name)
            for package in try packages.fetch(request) { sum.add(package.size) }
        }
        return sum.value
    }

    func scoresByAge() throws -> UInt64? {
        func described(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
            let description = NSExpressionDescription()
            description.name = name
            description.expression = NSExpression(format: format)
            description.expressionResultType = type
            return description
        }
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["age"]
        request.propertiesToFetch = [
            "age", described("people", "count:(age)", .integer64AttributeType), described("total", "sum:(score)", .doubleAttributeType),
        ]
        var sum = Checksum()
        for group in try peer.context.fetch(request) {
            guard let age = group["age"] as? Int, let people = group["people"] as? Int, let total = group["total"] as? Double else {
                throw PeerError(description: "a group lacks a value: \(group)")
            }
            sum.add(age &* people)
            sum.add(Int(total))
        }
        return sum.value
    }

    /// Inserts with one object that is filled again for each row.
    func batchInsert(_ people: [PersonData]) throws -> UInt64? {
        var next = 0
        let request = NSBatchInsertRequest(entityName: "Person", managedObjectHandler: { object in
            guard next < people.count, let person = object as? ManagedPerson else { return true }
            let data = people[next]
            next += 1
            person.name = data.name
            person.email = data.email
            person.age = data.age
            person.score = data.score
            person.birthday = data.birthday
            person.note = data.note
            return false
        })
        request.resultType = .count
        return ((try peer.context.execute(request) as? NSBatchInsertResult)?.result as? Int).map(UInt64.init)
    }

    func batchUpdate() throws -> UInt64? {
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.predicate = NSPredicate(format: "age >= 0")
        request.propertiesToUpdate = ["score": NSExpression(format: "score + 1")]
        request.resultType = .updatedObjectsCountResultType
        return ((try peer.context.execute(request) as? NSBatchUpdateResult)?.result as? Int).map(UInt64.init)
    }

    func batchDelete() throws -> UInt64? {
        let people = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        people.predicate = NSPredicate(format: "age >= 0")
        let request = NSBatchDeleteRequest(fetchRequest: people)
        request.resultType = .resultTypeCount
        return ((try peer.context.execute(request) as? NSBatchDeleteResult)?.result as? Int).map(UInt64.init)
    }
}

final class ManagedPhrase: NSManagedObject {
    static func model() -> NSManagedObjectModel {
        let text = NSAttributeDescription()
        text.name = "text"
        text.attributeType = .stringAttributeType
        let phrase = NSEntityDescription()
        phrase.name = "Phrase"
        phrase.managedObjectClassName = NSStringFromClass(ManagedPhrase.self)
        phrase.properties = [text]
        let model = NSManagedObjectModel()
        model.entities = [phrase]
        return model
    }
}

final class ManagedPackage: NSManagedObject {
    var size: Int { Int(managedInteger(at: 1) ?? 0) }

    static func model() -> NSManagedObjectModel {
        let name = NSAttributeDescription(), size = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        size.name = "size"
        size.attributeType = .integer64AttributeType
        let depends = NSRelationshipDescription(), dependents = NSRelationshipDescription()
        let package = NSEntityDescription()
        (depends.name, dependents.name) = ("depends", "dependents")
        (depends.destinationEntity, dependents.destinationEntity) = (package, package)
        (depends.inverseRelationship, dependents.inverseRelationship) = (dependents, depends)
        package.name = "Package"
        package.managedObjectClassName = NSStringFromClass(ManagedPackage.self)
        package.properties = [name, size, depends, dependents]
        package.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [package]
        return model
    }
}

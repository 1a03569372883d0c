// Runs one workload of the stack COUNT times on a store of 100,000 persons, so that `instructions` can count under callgrind.
//   heartwood-instructions STORE load | point | equality | range | all | insert  COUNT
import Foundation
@_spi(GeneratedCode) import Heartwood

final class Person: NSManagedObject {
    var name: String {
        get { managedString(at: 0) ?? "" }
        set { setManagedString(newValue, at: 0) }
    }

    var email: String {
        get { managedString(at: 1) ?? "" }
        set { setManagedString(newValue, at: 1) }
    }

    var age: Int64 {
        get { managedInteger(at: 2) ?? 0 }
        set { setManagedInteger(newValue, at: 2) }
    }

    var birthday: Double {
        get { managedDouble(at: 3) ?? 0 }
        set { setManagedDouble(newValue, at: 3) }
    }

    var note: String {
        get { managedString(at: 4) ?? "" }
        set { setManagedString(newValue, at: 4) }
    }
}

struct Workloads {
    static let persons = 100_000
    let coordinator: NSPersistentStoreCoordinator
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    /// Summed, so that no read is optimised away.
    var sum: Int64 = 0

    init(at url: URL) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: nil)
        context.persistentStoreCoordinator = coordinator
    }

    static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        let birthday = attribute("birthday", .doubleAttributeType), person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = NSStringFromClass(Person.self)
        person.properties = [
            attribute("name", .stringAttributeType), attribute("email", .stringAttributeType), attribute("age", .integer64AttributeType), birthday,
            attribute("note", .stringAttributeType),
        ]
        person.uniquenessConstraints = [["email"]]
        person.indexes = [
            NSFetchIndexDescription(name: "byBirthday", elements: [NSFetchIndexElementDescription(property: birthday, collationType: .binary)])
        ]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    mutating func run(_ workload: String, _ count: Int) throws {
        switch workload {
        case "load", "insert": try insert(count)
        case "point":
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
            request.resultType = .managedObjectIDResultType
            let another = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            another.persistentStoreCoordinator = coordinator
            let ids = try another.fetch(request)
            for number in 0..<count {
                guard let person = context.object(with: ids[spread(number)]) as? Person else { continue }
                sum &+= person.age &+ Int64(person.name.utf8.count)
            }
        case "equality":
            for number in 0..<count {
                let request = NSFetchRequest<Person>(entityName: "Person")
                request.predicate = NSPredicate(format: "email == %@", email(spread(number)))
                request.fetchLimit = 1
                if let person = try context.fetch(request).first { sum &+= person.age }
            }
        case "range":
            for number in 0..<count {
                let request = NSFetchRequest<Person>(entityName: "Person")
                request.predicate = NSPredicate(format: "birthday >= %lf", Double(spread(number) * 9))
                request.sortDescriptors = [NSSortDescriptor(key: "birthday", ascending: true)]
                request.fetchLimit = 100
                for person in try context.fetch(request) { sum &+= person.age }
            }
        case "all":
            for _ in 0..<count {
                for person in try context.fetch(NSFetchRequest<Person>(entityName: "Person")) { sum &+= person.age &+ Int64(person.name.utf8.count) }
                context.reset()
            }
        default: throw CocoaError(.featureUnsupported)
        }
    }

    private func insert(_ count: Int) throws {
        for number in 0..<count {
            let person = Person(context: context), hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
            person.name = "Name \(hash % 1000)"
            person.email = email(number)
            person.age = Int64(hash % 90)
            person.birthday = Double(hash % 1_000_003)
            person.note = "a note about tree \(hash % 77)"
            if (number + 1) % 10_000 == 0 { try context.save() }
        }
        try context.save()
    }

    private func spread(_ number: Int) -> Int { (number &* 7919) % Self.persons }

    private func email(_ number: Int) -> String { "p\(number)@example.com" }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else {
    print("usage: heartwood-instructions STORE WORKLOAD COUNT")
    exit(64)
}
let url = URL(fileURLWithPath: arguments[1]), words = arguments[2].split(separator: "-", maxSplits: 1).map(String.init)
#if canImport(SwiftData)
    let models: [String: (String, Int, URL) throws -> Int64] = [
        "models": SwiftDataWorkloads.run, "objects": ObjectWorkloads.run, "predicates": PredicateWorkloads.run,
    ]
    if let run = models[words[0]] {
        print(arguments[2], count, try run(words[1], count, url))
        exit(0)
    }
#endif
var workloads = try Workloads(at: url)
switch words[0] {
#if canImport(SwiftData)
    case "values": try workloads.readValues(words[1], count)
#endif
default: try workloads.run(words[0], count)
}
print(arguments[2], count, workloads.sum)

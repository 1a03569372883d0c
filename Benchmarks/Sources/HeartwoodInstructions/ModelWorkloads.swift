// The workloads of SwiftData's models, and the same of managed objects with the same history.
//   heartwood-instructions STORE models-WORK | objects-WORK  COUNT, where WORK is load, insert, fetch, fetch-read, read, observed-read, change, open
#if canImport(SwiftData)
    import Heartwood
    import SwiftData

    @Model
    final class ModelPerson {
        #Index<ModelPerson>([\.birthday])

        var name: String
        @Attribute(.unique) var email: String
        var age: Int64
        var birthday: Double
        var note: String

        init(name: String, email: String, age: Int64, birthday: Double, note: String) {
            self.name = name
            self.email = email
            self.age = age
            self.birthday = birthday
            self.note = note
        }
    }

    /// The work of models and of managed objects alike. A fetch finds 1,000 persons. A read reads an attribute of each of them.
    protocol ModelWorkloads {
        init(at url: URL) throws
        func insert(_ count: Int) throws
        func fetch(_ birthdays: Range<Double>, reads: Bool) throws -> Int64
        /// Fetches 1,000 persons, and reads each so many times.
        func read(_ count: Int, isObserved: Bool) throws -> Int64
        func change(_ count: Int) throws
    }

    extension ModelWorkloads {
        static func run(_ work: String, _ count: Int, at url: URL) throws -> Int64 {
            if work == "open" {
                return try (0..<count).reduce(0) { sum, _ in try sum &+ Self(at: url).fetch(0..<500, reads: true) }
            }
            let workloads = try Self(at: url)
            switch work {
            case "load", "insert": try workloads.insert(count)
            case "fetch", "fetch-read":
                // Birthdays are the persons' numbers.
                return try (0..<count).reduce(0) { sum, number in
                    let first = Double(number * 1000 % (Workloads.persons / 5))
                    return try sum &+ workloads.fetch(first..<first + 1000, reads: work == "fetch-read")
                }
            case "read", "observed-read": return try workloads.read(count, isObserved: work == "observed-read")
            case "change": try workloads.change(count)
            default: throw CocoaError(.featureUnsupported)
            }
            return 0
        }
    }

    final class SwiftDataWorkloads: ModelWorkloads {
        private let context: ModelContext

        init(at url: URL) throws {
            context = ModelContext(try ModelContainer(for: ModelPerson.self, configurations: ModelConfiguration(url: url)))
        }

        func insert(_ count: Int) throws {
            for number in 0..<count {
                let hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
                context.insert(ModelPerson(
                    name: "Name \(hash % 1000)", email: "p\(number)@example.com", age: Int64(hash % 90), birthday: Double(number),
                    note: "a note about tree \(hash % 77)"))
                if (number + 1) % 10_000 == 0 { try context.save() }
            }
            try context.save()
        }

        func fetch(_ birthdays: Range<Double>, reads: Bool) throws -> Int64 {
            let (first, end) = (birthdays.lowerBound, birthdays.upperBound)
            let people = try context.fetch(FetchDescriptor(predicate: #Predicate<ModelPerson> { $0.birthday >= first && $0.birthday < end }))
            return reads ? people.reduce(0) { $0 &+ $1.age } : Int64(people.count)
        }

        private func held(_ count: Int) throws -> [ModelPerson] {
            var descriptor = FetchDescriptor<ModelPerson>()
            descriptor.fetchLimit = count
            return try context.fetch(descriptor)
        }

        func read(_ count: Int, isObserved: Bool) throws -> Int64 {
            let people = try held(1000)
            if isObserved { _ = withObservationTracking { Self.sum(people) } onChange: {} }
            return (0..<count).reduce(0) { sum, _ in sum &+ Self.sum(people) }
        }

        @inline(never)
        private static func sum(_ people: [ModelPerson]) -> Int64 {
            var sum: Int64 = 0
            for person in people { sum &+= person.age }
            return sum
        }

        func change(_ count: Int) throws {
            for person in try held(count) { person.age += 1 }
            try context.save()
        }
    }

    final class ObjectWorkloads: ModelWorkloads {
        private let container: NSPersistentContainer
        private let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)

        init(at url: URL) throws {
            container = NSPersistentContainer(name: "People", managedObjectModel: Workloads.model())
            let description = NSPersistentStoreDescription(url: url)
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 ?? failure }
            if let failure { throw failure }
            context.persistentStoreCoordinator = container.persistentStoreCoordinator
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        }

        func insert(_ count: Int) throws {
            for number in 0..<count {
                let person = Person(context: context), hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
                (person.name, person.email) = ("Name \(hash % 1000)", "p\(number)@example.com")
                (person.age, person.birthday, person.note) = (Int64(hash % 90), Double(number), "a note about tree \(hash % 77)")
                if (number + 1) % 10_000 == 0 { try context.save() }
            }
            try context.save()
        }

        private func held(_ count: Int) throws -> [Person] {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.fetchLimit = count
            return try context.fetch(request)
        }

        func fetch(_ birthdays: Range<Double>, reads: Bool) throws -> Int64 {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = NSPredicate(format: "birthday >= %lf AND birthday < %lf", birthdays.lowerBound, birthdays.upperBound)
            let people = try context.fetch(request)
            return reads ? people.reduce(0) { $0 &+ $1.age } : Int64(people.count)
        }

        func read(_ count: Int, isObserved: Bool) throws -> Int64 {
            let people = try held(1000)
            return (0..<count).reduce(0) { sum, _ in sum &+ Self.sum(people) }
        }

        @inline(never)
        private static func sum(_ people: [Person]) -> Int64 {
            var sum: Int64 = 0
            for person in people { sum &+= person.age }
            return sum
        }

        func change(_ count: Int) throws {
            for person in try held(count) { person.age += 1 }
            try context.save()
        }
    }
#endif

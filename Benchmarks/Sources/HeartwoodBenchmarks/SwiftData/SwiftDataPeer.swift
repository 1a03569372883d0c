import SwiftData

@Model
final class ModelPerson {
    #Index<ModelPerson>([\.birthday])

    var name: String
    @Attribute(.unique) var email: String
    var age: Int
    var score: Double
    var birthday: Double
    var note: String
    var group: ModelGroup?

    init(_ data: PersonData, _ group: ModelGroup) {
        (name, email, age) = (data.name, data.email, data.age)
        (score, birthday, note) = (data.score, data.birthday, data.note)
        self.group = group
    }
}

@Model
final class ModelGroup {
    var title: String
    @Relationship(inverse: \ModelPerson.group) var people: [ModelPerson] = []

    init(title: String) { self.title = title }
}

/// SwiftData's models, with the container's defaults.
final class SwiftDataPeer: ModelPeer {
    static let name = "SwiftData models"

    private let path: String
    private let generator: PersonGenerator
    private var context: ModelContext?
    private var held: [ModelPerson] = []

    init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    func open() throws {
        let configuration = ModelConfiguration(url: URL(fileURLWithPath: path))
        context = ModelContext(try ModelContainer(for: ModelPerson.self, configurations: configuration))
    }

    func close() throws {
        held = []
        context = nil
    }

    private func opened() throws -> ModelContext {
        guard let context else { throw PeerError(description: "the container is not open") }
        return context
    }

    func insertAll() throws {
        let context = try opened()
        let groups = (0..<generator.groupCount).map { ModelGroup(title: "group \($0)") }
        for group in groups { context.insert(group) }
        for number in 0..<generator.count {
            let data = generator.person(number)
            context.insert(ModelPerson(data, groups[data.group]))
            if (number + 1) % 10_000 == 0 { try context.save() }
        }
        try context.save()
    }

    func firstName() throws -> String {
        var descriptor = FetchDescriptor<ModelPerson>()
        descriptor.fetchLimit = 1
        return try opened().fetch(descriptor).first?.name ?? ""
    }

    func fetch(bornIn birthdays: Range<Double>, reads: Bool) throws -> UInt64 {
        let (first, end) = (birthdays.lowerBound, birthdays.upperBound)
        let predicate = #Predicate<ModelPerson> { $0.birthday >= first && $0.birthday < end }
        let people = try opened().fetch(FetchDescriptor(predicate: predicate))
        guard reads else { return UInt64(people.count) }
        var sum = Checksum()
        for person in people { sum.add(person.age) }
        return sum.value
    }

    func enumerate() throws -> UInt64 {
        var sum = Checksum()
        try opened().enumerate(FetchDescriptor<ModelPerson>()) { person in
            sum.add(person.name)
            sum.add(person.age)
        }
        return sum.value
    }

    func hold(_ count: Int) throws {
        var descriptor = FetchDescriptor<ModelPerson>()
        descriptor.fetchLimit = count
        held = try opened().fetch(descriptor)
    }

    func change(to score: Double) throws {
        for person in held { person.score = score }
        try opened().save()
    }
}

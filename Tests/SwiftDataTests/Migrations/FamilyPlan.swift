import Foundation
import SwiftData
import Synchronization

/// A plan over all versions. A test leaves stages out, or makes one throw.
enum FamilyPlan: SchemaMigrationPlan {
    struct Failure: Error {}

    enum Moment: CaseIterable { case before, after, afterSave }

    /// The versions at which stages start that the plan lacks.
    @TaskLocal static var missing: Set<Int> = []
    /// The version at which a stage starts that throws, and when it does.
    @TaskLocal static var failing: (from: Int, moment: Moment)?

    static let versions: [any VersionedSchema.Type] = [
        Family1.self, Family2.self, Family3.self, Family4.self, Family5.self, Family6.self, Family7.self,
    ]

    static var schemas: [any VersionedSchema.Type] { versions }

    static var stages: [MigrationStage] {
        (1..<versions.count).filter { !missing.contains($0) }.map { from in
            let needsCode = from == 3 || from == 6
            guard needsCode || failing?.from == from else {
                return .lightweight(fromVersion: versions[from - 1], toVersion: versions[from])
            }
            return .custom(
                fromVersion: versions[from - 1], toVersion: versions[from], willMigrate: { try before(from, $0) },
                didMigrate: { try after(from, $0) })
        }
    }

    /// What a stage carries from the old models to the new ones, by their names.
    private static let carried = Mutex<[String: Int]>([:])

    private static func fail(_ from: Int, _ moment: Moment) throws {
        if let failing, failing.from == from, failing.moment == moment { throw Failure() }
    }

    private static func before(_ from: Int, _ context: ModelContext) throws {
        var found: [String: Int] = [:]
        if from == 3 {
            for person in try context.fetch(FetchDescriptor<Family3.Person>()) { found[person.fullName] = person.age }
        } else if from == 6 {
            for person in try context.fetch(FetchDescriptor<Family6.Person>()) { found[person.fullName] = person.level }
        }
        carried.withLock { $0 = found }
        if failing?.from == from {
            // What the stage has changed must go with its failure.
            try context.delete(model: Family1.Person.self, from: from)
            try context.save()
        }
        try fail(from, .before)
    }

    private static func after(_ from: Int, _ context: ModelContext) throws {
        try fail(from, .after)
        let found = carried.withLock { $0 }
        if from == 3 {
            for person in try context.fetch(FetchDescriptor<Family4.Person>()) { person.ageText = found[person.fullName].map { "\($0)" } ?? "?" }
        } else if from == 6 {
            for person in try context.fetch(FetchDescriptor<Family7.Person>()) { person.rank = (found[person.fullName] ?? 0) > 3 ? .high : .low }
        }
        if failing?.moment == .afterSave { try context.save() }
        try fail(from, .afterSave)
    }
}

extension ModelContext {
    /// Deletes all persons of a version.
    fileprivate func delete(model: Family1.Person.Type, from version: Int) throws {
        switch version {
        case 1: try delete(model: Family1.Person.self)
        case 2: try delete(model: Family2.Person.self)
        case 3: try delete(model: Family3.Person.self)
        case 4: try delete(model: Family4.Person.self)
        case 5: try delete(model: Family5.Person.self)
        case 6: try delete(model: Family6.Person.self)
        default: try delete(model: Family7.Person.self)
        }
    }
}

/// The models of one version as plain values, in the order of their names.
struct PlainFamily: Equatable, CustomStringConvertible {
    var persons: [[String: String]] = []
    var pets: [[String: String]] = []

    var description: String {
        func list(_ rows: [[String: String]]) -> [String] { rows.map { "\($0.sorted { $0.key < $1.key })" } }
        return "\(list(persons)) \(list(pets))"
    }

    /// What the next version makes of this one.
    mutating func migrate(from version: Int) {
        for index in persons.indices {
            func rename(_ old: String, _ new: String) { persons[index][new] = persons[index].removeValue(forKey: old) }
            switch version {
            case 1: rename("name", "fullName")
            case 2: (persons[index]["note"], persons[index]["level"]) = (nil, "3")
            case 3: rename("age", "ageText")
            case 4: rename("pet", "pets")
            case 6: persons[index]["rank"] = (persons[index].removeValue(forKey: "level").flatMap(Int.init) ?? 0) > 3 ? "high" : "low"
            default: break
            }
        }
    }

    // MARK: Making and reading a store

    /// Makes models of a version; the values of properties that the version has.
    static func make(_ version: Int, in context: ModelContext) {
        func note(_ index: Int) -> String? { index == 1 ? nil : "n\(index)" }
        for (index, name) in ["Ada", "Béa", "Cy", "Di"].enumerated() {
            let age = index * 20 - 1, level = index + 2, petName = "pet of \(name)"
            switch version {
            case 1:
                let person = Family1.Person(name: name)
                (person.age, person.note) = (age, note(index))
                if index != 2 { person.pet = Family1.Pet(name: petName) }
                context.insert(person)
            case 2:
                let person = Family2.Person(fullName: name)
                (person.age, person.note) = (age, note(index))
                if index != 2 { person.pet = Family2.Pet(name: petName) }
                context.insert(person)
            case 3:
                let person = Family3.Person(fullName: name)
                (person.age, person.level) = (age, level)
                if index != 2 { person.pet = Family3.Pet(name: petName) }
                context.insert(person)
            case 4:
                let person = Family4.Person(fullName: name)
                (person.ageText, person.level) = ("\(age)", level)
                if index != 2 { person.pet = Family4.Pet(name: petName) }
                context.insert(person)
            case 5:
                let person = Family5.Person(fullName: name)
                (person.ageText, person.level) = ("\(age)", level)
                if index != 2 { person.pets = [Family5.Pet(name: petName), Family5.Pet(name: petName + "'s sister")] }
                context.insert(person)
            case 6:
                let person = index == 3 ? Family6.Manager(fullName: name, team: "t") : Family6.Person(fullName: name)
                (person.ageText, person.level) = ("\(age)", level)
                if index != 2 { person.pets = [Family6.Pet(name: petName)] }
                context.insert(person)
            default:
                let person = index == 3 ? Family7.Manager(fullName: name, team: "t") : Family7.Person(fullName: name)
                (person.ageText, person.rank) = ("\(age)", level > 3 ? .high : .low)
                if index != 2 { person.pets = [Family7.Pet(name: petName)] }
                context.insert(person)
            }
        }
    }

    static func read(_ version: Int, in context: ModelContext) throws -> PlainFamily {
        var plain = PlainFamily()
        func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }
        switch version {
        case 1:
            plain.persons = try context.fetch(FetchDescriptor<Family1.Person>()).map {
                ["name": $0.name, "age": "\($0.age)", "note": $0.note, "pet": list($0.pet.map { [$0.name] } ?? [])].compactMapValues(\.self)
            }
            plain.pets = try context.fetch(FetchDescriptor<Family1.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.name ?? "-"] }
        case 2:
            plain.persons = try context.fetch(FetchDescriptor<Family2.Person>()).map {
                ["fullName": $0.fullName, "age": "\($0.age)", "note": $0.note, "pet": list($0.pet.map { [$0.name] } ?? [])].compactMapValues(\.self)
            }
            plain.pets = try context.fetch(FetchDescriptor<Family2.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.fullName ?? "-"] }
        case 3:
            plain.persons = try context.fetch(FetchDescriptor<Family3.Person>()).map {
                ["fullName": $0.fullName, "age": "\($0.age)", "level": "\($0.level)", "pet": list($0.pet.map { [$0.name] } ?? [])]
            }
            plain.pets = try context.fetch(FetchDescriptor<Family3.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.fullName ?? "-"] }
        case 4:
            plain.persons = try context.fetch(FetchDescriptor<Family4.Person>()).map {
                ["fullName": $0.fullName, "ageText": $0.ageText, "level": "\($0.level)", "pet": list($0.pet.map { [$0.name] } ?? [])]
            }
            plain.pets = try context.fetch(FetchDescriptor<Family4.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.fullName ?? "-"] }
        case 5:
            plain.persons = try context.fetch(FetchDescriptor<Family5.Person>()).map {
                ["fullName": $0.fullName, "ageText": $0.ageText, "level": "\($0.level)", "pets": list($0.pets.map(\.name))]
            }
            plain.pets = try context.fetch(FetchDescriptor<Family5.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.fullName ?? "-"] }
        case 6:
            plain.persons = try context.fetch(FetchDescriptor<Family6.Person>()).map {
                ["fullName": $0.fullName, "ageText": $0.ageText, "level": "\($0.level)", "pets": list($0.pets.map(\.name)),
                 "team": ($0 as? Family6.Manager)?.team].compactMapValues(\.self)
            }
            plain.pets = try context.fetch(FetchDescriptor<Family6.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.fullName ?? "-"] }
        default:
            plain.persons = try context.fetch(FetchDescriptor<Family7.Person>()).map {
                ["fullName": $0.fullName, "ageText": $0.ageText, "rank": $0.rank.rawValue, "pets": list($0.pets.map(\.name)),
                 "team": ($0 as? Family7.Manager)?.team].compactMapValues(\.self)
            }
            plain.pets = try context.fetch(FetchDescriptor<Family7.Pet>()).map { ["name": $0.name, "keeper": $0.keeper?.fullName ?? "-"] }
        }
        plain.persons.sort { ($0["fullName"] ?? $0["name"] ?? "") < ($1["fullName"] ?? $1["name"] ?? "") }
        plain.pets.sort { ($0["name"] ?? "") < ($1["name"] ?? "") }
        return plain
    }
}

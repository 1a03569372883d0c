import Foundation
import HeartwoodSwiftData
import SwiftData
import Testing

@Model
class Vehicle {
    var name: String
    var wheels: Int = 4
    var keeper: Keeper?

    init(name: String, wheels: Int = 4) {
        self.name = name
        self.wheels = wheels
    }
}

@Model
class Car: Vehicle {
    #Index<Car>([\.doors])
    var doors: Int = 5
    var colour: String?

    init(name: String, doors: Int) {
        self.doors = doors
        super.init(name: name)
    }
}

@Model
final class Van: Car {
    var load: Double?

    init(name: String, load: Double?) {
        self.load = load
        super.init(name: name, doors: 3)
    }
}

@Model
final class Bike: Vehicle {
    var gears: Int = 0

    init(name: String, gears: Int) {
        self.gears = gears
        super.init(name: name, wheels: 2)
    }
}

@Model
final class Keeper {
    var name: String
    var favourite: Vehicle?
    @Relationship(inverse: \Vehicle.keeper) var vehicles: [Vehicle] = []

    init(name: String) { self.name = name }
}

/// The store's answers to `is`, `as?` and `as!` are those of Swift.
@Suite struct ClassPredicateTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Vehicle.self, Car.self, Van.self, Bike.self, Keeper.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        let keepers = ["A", "B", "C"].map(Keeper.init)
        var all: [Vehicle] = []
        for number in 0..<20 {
            switch number % 4 {
            case 0: all.append(Vehicle(name: "n\(number % 3)", wheels: number % 5))
            case 1: all.append(Car(name: "n\(number % 3)", doors: number % 6))
            case 2: all.append(Van(name: "n\(number % 3)", load: number % 8 == 2 ? nil : Double(number)))
            default: all.append(Bike(name: "n\(number % 3)", gears: number))
            }
            if number % 5 != 0 { all[number].keeper = keepers[number % 2] }
            (all[number] as? Car)?.colour = [nil, "red", "blue"][number % 3]
            context.insert(all[number])
        }
        for (number, keeper) in keepers.enumerated() {
            context.insert(keeper)
            keeper.favourite = [nil, all[2], all[3]][number]
        }
        try context.save()
    }

    /// Compares a fetch with Swift's evaluation: of saved models, and beside an unsaved one.
    private func check<T: PersistentModel>(
        _ predicate: Predicate<T>, isStored: Bool = true, _ line: SourceLocation = #_sourceLocation
    ) throws {
        for context in [context, ModelContext(container)] {
            for isChanged in [false, true] {
                if isChanged { context.insert(Van(name: "n1", load: 7)) }
                let all = try context.fetch(FetchDescriptor<T>())
                let wanted = try all.filter { try predicate.evaluate($0) }
                let found = try context.fetch(FetchDescriptor(predicate: predicate))
                #expect(Set(found) == Set(wanted) && found.count == wanted.count, "changed \(isChanged)", sourceLocation: line)
                #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == wanted.count, sourceLocation: line)
                #expect(!wanted.isEmpty && wanted.count < all.count, "The predicate chooses all or nothing", sourceLocation: line)
            }
            #expect(try context.answersByStore(predicate) == isStored, sourceLocation: line)
            context.rollback()
        }
    }

    @Test func `A class and its subclasses are found by is`() throws {
        try check(#Predicate<Vehicle> { $0 is Car })
        try check(#Predicate<Vehicle> { $0 is Van })
        try check(#Predicate<Vehicle> { !($0 is Car) })
        try check(#Predicate<Vehicle> { $0 is Bike || $0 is Van })
        try check(#Predicate<Car> { $0 is Van })
        try check(#Predicate<Vehicle> { $0 is Car && $0.name == "n1" })
        try check(#Predicate<Vehicle> { if $0 is Car { $0.name == "n1" } else { $0.wheels > 2 } })
    }

    @Test func `A class above holds for all, and one beside for none`() throws {
        let above = Predicate<Van> { PredicateExpressions.TypeCheck<PredicateExpressions.Variable<Van>, Vehicle>($0) }
        #expect(try context.fetchCount(FetchDescriptor(predicate: above)) == 5)
        #expect(try context.answersByStore(above))
        let beside = #Predicate<Bike> { ($0 as Vehicle) is Car }
        #expect(try context.fetchCount(FetchDescriptor(predicate: beside)) == 0)
    }

    @Test func `A relationship without a model is of no class`() throws {
        try check(#Predicate<Keeper> { $0.favourite is Van })
        try check(#Predicate<Keeper> { !($0.favourite is Van) })
        try check(#Predicate<Keeper> { $0.favourite is Van? })
        // The compiler warns of a check for the class itself.
        try check(Predicate<Keeper> { keeper in
            let favourite = PredicateExpressions.build_KeyPath(root: keeper, keyPath: \.favourite)
            return PredicateExpressions.TypeCheck<_, Vehicle>(favourite)
        })
        try check(#Predicate<Keeper> { ($0.favourite as? Van) == nil })
        try check(#Predicate<Keeper> { ($0.favourite as? Van) != nil })
        try check(#Predicate<Keeper> { ($0.favourite as? Car)?.doors == 3 })
    }

    @Test func `A cast reads the subclass's properties, and is nil for other classes`() throws {
        let none: Double? = nil
        try check(#Predicate<Vehicle> { ($0 as? Car)?.doors == 3 })
        try check(#Predicate<Vehicle> { (($0 as? Car)?.doors ?? 9) > 3 })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.doors != 3 })
        try check(#Predicate<Vehicle> { ($0 as? Van)?.load == none })
        try check(#Predicate<Vehicle> { ($0 as? Van)?.load != nil })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.colour == nil })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.colour == "red" })
        try check(#Predicate<Car> { ($0 as? Van)?.load != nil })
    }

    @Test func `A cast hides inherited properties of other classes too`() throws {
        try check(#Predicate<Vehicle> { ($0 as? Car)?.name == "n1" })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.name == nil })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.name != "n1" })
        try check(#Predicate<Vehicle> { (($0 as? Van)?.wheels ?? 0) == 4 })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.keeper?.name == "A" })
        try check(#Predicate<Vehicle> { if let car = $0 as? Car { car.name == "n1" && car.doors < 5 } else { false } })
        try check(#Predicate<Vehicle> { if let car = $0 as? Car { car.name == "n1" } else { true } })
    }

    @Test func `Members of a relationship are asked for their class`() throws {
        let one = try #require(try context.fetch(FetchDescriptor<Vehicle>(predicate: #Predicate { $0.name == "n2" })).first).persistentModelID
        try check(#Predicate<Keeper> { $0.vehicles.contains { $0 is Van } })
        try check(#Predicate<Keeper> { $0.vehicles.contains { ($0 as? Bike)?.gears == 3 } })
        try check(#Predicate<Keeper> { !$0.vehicles.isEmpty && $0.vehicles.allSatisfy { $0 is Car || $0.wheels < 4 } })
        try check(#Predicate<Vehicle> { ($0 as? Car)?.persistentModelID == one || $0 is Bike })
    }

    @Test func `A forced cast of models that are of the class`() throws {
        let first = try context.fetch(FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Car && ($0 as! Car).doors == 3 }))
        #expect(!first.isEmpty && first.allSatisfy { ($0 as? Car)?.doors == 3 })
        #expect(try context.answersByStore(#Predicate<Vehicle> { $0 is Car && ($0 as! Car).doors == 3 }))
    }

    @Test func `Tables of other classes are not read`() throws {
        let plan = try context.explain(FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Van }))
        #expect(plan.rowsVisited == 5 && !plan.isInMemory)
        let cast = try context.explain(FetchDescriptor<Vehicle>(predicate: #Predicate { ($0 as? Van)?.doors == 3 && $0 is Van }))
        #expect(cast.parts.filter { $0.access == .nothing }.count == 3 && cast.rowsVisited == 5, "\(cast)")
    }
}

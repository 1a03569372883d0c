import Foundation
import HeartwoodSwiftData
import Testing

@Suite struct SwiftDataHistoryTests {
    private let store = TestStore()

    private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

    /// Three transactions: an insertion by "app", an update by "app", a deletion by "sync".
    private func context() throws -> ModelContext {
        let context = ModelContext(try store.trips())
        context.author = "app"
        let trip = HistoryTrip(name: "Alps")
        trip.mood = .wild
        trip.place = HistoryPlace(town: "Chur", height: nil)
        trip.tags = ["snow", "rail"]
        context.insert(trip)
        try context.save()
        trip.name = "Andes"
        trip.days = 9
        try context.save()
        context.author = "sync"
        context.delete(trip)
        try context.save()
        return context
    }

    @Test func `each save is a transaction with typed changes, in the order of the saves`() throws {
        let context = try context()
        let all = try context.fetchHistory(Descriptor())
        #expect(all.map(\.author) == ["app", "app", "sync"])
        #expect(all.map(\.changes.count) == [1, 1, 1])
        #expect(all.map(\.token) == all.map(\.token).sorted())
        #expect(all.allSatisfy { $0.storeIdentifier == context.container.storeIdentifier(forConfigurationNamed: store.name) })
        guard case .insert(let insert as DefaultHistoryInsert<HistoryTrip>)? = all[0].changes.first,
            case .update(let update as DefaultHistoryUpdate<HistoryTrip>)? = all[1].changes.first,
            case .delete(let delete as DefaultHistoryDelete<HistoryTrip>)? = all[2].changes.first
        else {
            Issue.record("The changes are of other classes: \(all.map(\.changes))")
            return
        }
        #expect(insert.changedPersistentIdentifier == update.changedPersistentIdentifier)
        #expect(insert.transactionIdentifier == all[0].transactionIdentifier)
        #expect(update.updatedAttributes.count == 2)
        #expect(update.updatedAttributes.contains(\.name))
        #expect(update.updatedAttributes.contains(\.days))
        #expect(delete.changedPersistentIdentifier == insert.changedPersistentIdentifier)
    }

    @Test func `a tombstone has the preserved values in their types, and no others`() throws {
        let all = try context().fetchHistory(Descriptor())
        guard case .delete(let delete as DefaultHistoryDelete<HistoryTrip>)? = all[2].changes.first else {
            Issue.record("There is no deletion: \(all[2].changes)")
            return
        }
        let tombstone = delete.tombstone
        #expect(tombstone[\.name] as? String == "Andes")
        #expect(tombstone[\.ref] is UUID)
        #expect(tombstone[\.mood] as? Mood == .wild)
        #expect(tombstone[\.place] as? HistoryPlace == HistoryPlace(town: "Chur", height: nil))
        #expect(tombstone[\.tags] as? [String] == ["snow", "rail"])
        #expect(tombstone[\.note] == nil)
        #expect(tombstone[\.days] == nil)
        #expect(tombstone[\.stays] == nil)
        #expect(Array(tombstone).count == 5)
        #expect(Array(tombstone).contains { $0 as? String == "Andes" })
    }

    @Test func `changes of a subclass are of the subclass, and name properties of both classes`() throws {
        let context = ModelContext(try store.trips())
        let car = HistoryCar(name: "Panda", doors: 3)
        context.insert(car)
        try context.save()
        car.doors = 5
        car.name = "Uno"
        try context.save()
        context.delete(car)
        try context.save()
        let changes = try context.fetchHistory(Descriptor()).flatMap(\.changes)
        guard case .update(let update as DefaultHistoryUpdate<HistoryCar>) = changes[1],
            case .delete(let delete as DefaultHistoryDelete<HistoryCar>) = changes[2]
        else {
            Issue.record("The changes are of other classes: \(changes)")
            return
        }
        #expect(update.updatedAttributes.contains(\.doors))
        #expect(update.updatedAttributes.count == 2)
        #expect(delete.tombstone[\.name] as? String == "Uno")
        #expect(delete.tombstone[\.doors] == nil)
    }

    @Test func `predicates choose by token, author, time, store and change`() throws {
        let context = try context()
        let all = try context.fetchHistory(Descriptor())
        let first = all[0].token, last = all[2].token, middle = all[1].timestamp, id = all[0].storeIdentifier
        func count(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> Int {
            try context.fetchHistory(Descriptor(predicate: predicate)).count
        }
        #expect(try count(#Predicate { $0.token > first }) == 2)
        #expect(try count(#Predicate { first < $0.token }) == 2)
        #expect(try count(#Predicate { $0.token >= first }) == 3)
        #expect(try count(#Predicate { $0.token < last }) == 2)
        #expect(try count(#Predicate { $0.token <= last }) == 3)
        #expect(try count(#Predicate { $0.token == last }) == 1)
        #expect(try count(#Predicate { $0.token > last }) == 0)
        #expect(try count(#Predicate { $0.author == "app" }) == 2)
        #expect(try count(#Predicate { $0.author != "app" }) == 1)
        #expect(try count(#Predicate { $0.token > first && $0.author == "app" }) == 1)
        #expect(try count(#Predicate { $0.token > first || $0.author == "app" }) == 3)
        #expect(try count(#Predicate { !($0.token > first) }) == 1)
        #expect(try count(#Predicate { $0.timestamp > middle }) == 1)
        #expect(try count(#Predicate { $0.timestamp <= middle }) == 2)
        #expect(try count(#Predicate { $0.storeIdentifier == id }) == 3)
        #expect(try count(#Predicate { $0.storeIdentifier == "none" }) == 0)
        #expect(try count(#Predicate { $0.changes.isEmpty }) == 0)
        #expect(try count(#Predicate { $0.changes.count == 1 && $0.token > first }) == 2)
    }

    @Test func `a limit and an order choose among the transactions`() throws {
        let context = try context()
        var descriptor = Descriptor(sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
        let numbers = try context.fetchHistory(descriptor).map(\.transactionIdentifier)
        #expect(numbers == numbers.sorted(by: >))
        #expect(numbers.count == 3)
        descriptor.fetchLimit = 1
        #expect(try context.fetchHistory(descriptor).map(\.author) == ["sync"])
        var unsorted = Descriptor(predicate: #Predicate { $0.author == "app" })
        unsorted.fetchLimit = 1
        #expect(try context.fetchHistory(unsorted).map(\.transactionIdentifier) == [numbers[2]])
        unsorted.fetchLimit = .max
        #expect(try context.fetchHistory(unsorted).count == 2)
    }

    @Test func `a token goes on after the store was opened again`() throws {
        let kept = try JSONEncoder().encode(try context().fetchHistory(Descriptor())[1].token)
        let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: kept)
        let context = ModelContext(try store.trips())
        context.insert(HistoryTrip(name: "Urals"))
        try context.save()
        let found = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
        #expect(found.map(\.author) == ["sync", nil])
        let again = try context.fetchHistory(Descriptor())[1].token
        #expect(token.tokenValue == again.tokenValue)
        #expect(token.id == again.id)
    }

    @Test func `a token whose next transaction was deleted has expired`() throws {
        let context = try context()
        let all = try context.fetchHistory(Descriptor())
        let first = all[0].token, last = all[2].token
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token < last }))
        #expect(try context.fetchHistory(Descriptor()).map(\.author) == ["sync"])
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > first }))
        }
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.fetchHistory(Descriptor(predicate: #Predicate { $0.author == "sync" && first < $0.token }))
        }
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > last })).isEmpty)
    }

    @Test func `a deletion takes the transactions that its predicate chooses`() throws {
        let context = try context()
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.author == "sync" }))
        #expect(try context.fetchHistory(Descriptor()).map(\.author) == ["app", "app"])
        try context.deleteHistory(Descriptor())
        #expect(try context.fetchHistory(Descriptor()).isEmpty)
        // The models stay.
        #expect(try context.fetchCount(FetchDescriptor<HistoryTrip>()) == 0)
    }

    @Test(arguments: [
        "[]", "7", #"{"x":7}"#, #"{"x":{"table":1,"number":-1,"time":0}}"#, #"{"":{"table":1,"number":1,"time":0}}"#,
        #"{"x":{"table":70000,"number":1,"time":0}}"#, #"{"x":{"table":1,"number":1e30,"time":0}}"#,
    ])
    func `a token that no history has made is not decoded`(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8)) }
    }

    @Test func `a token of another history has expired`() throws {
        let context = try context()
        let id = try #require(context.container.storeIdentifier(forConfigurationNamed: store.name))
        for text in [
            #"{"other":{"table":1,"number":1,"time":0}}"#, #"{"\#(id)":{"table":9,"number":1,"time":0}}"#,
            #"{"\#(id)":{"table":1,"number":9223372036854775807,"time":0}}"#,
        ] {
            let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8))
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })) }
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token < token })) }
        }
        #expect(try context.fetchHistory(Descriptor()).count == 3)
    }

    @Test func `one token goes on in the histories of several stores`() throws {
        let other = TestStore()
        let container = try ModelContainer(
            for: Schema([HistoryTrip.self, HistoryVehicle.self, HistoryCar.self]),
            configurations: [
                ModelConfiguration("trips", schema: Schema([HistoryTrip.self]), url: store.url),
                ModelConfiguration("cars", schema: Schema([HistoryVehicle.self, HistoryCar.self]), url: other.url),
            ])
        let context = ModelContext(container)
        for number in 0..<4 {
            if number % 2 == 0 { context.insert(HistoryTrip(name: "\(number)")) } else { context.insert(HistoryVehicle(name: "\(number)")) }
            try context.save()
        }
        let all = try context.fetchHistory(Descriptor())
        #expect(all.count == 4)
        #expect(Set(all.map(\.storeIdentifier)).count == 2)
        for (index, transaction) in all.enumerated() {
            let token = transaction.token
            let rest = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
            #expect(rest.map(\.timestamp) == all[(index + 1)...].map(\.timestamp))
        }
        let last = all[3].token
        context.insert(HistoryTrip(name: "new"))
        context.insert(HistoryVehicle(name: "new"))
        try context.save()
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > last })).count == 2)
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= last }))
        #expect(try context.fetchHistory(Descriptor()).count == 2)
    }

    @Test func `a store in memory has a history`() throws {
        let container = try ModelContainer(for: HistoryTrip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(HistoryTrip(name: "Alps"))
        try context.save()
        #expect(try context.fetchHistory(Descriptor()).count == 1)
    }

    @Test func `the deletion of a class's models is in the history`() throws {
        let context = ModelContext(try store.trips())
        for number in 0..<3 { context.insert(HistoryTrip(name: "\(number)")) }
        try context.save()
        try context.delete(model: HistoryTrip.self)
        try context.save()
        let changes = try context.fetchHistory(Descriptor()).last?.changes ?? []
        #expect(changes.count == 3)
        #expect(changes.allSatisfy { if case .delete(_ as DefaultHistoryDelete<HistoryTrip>) = $0 { true } else { false } })
    }

    @Test func `the notification of a save has the tokens after it`() throws {
        let context = ModelContext(try store.trips())
        nonisolated(unsafe) var tokens: [String: any HistoryToken]?
        let observer = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) { note in
            tokens = note.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue] as? [String: any HistoryToken]
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.insert(HistoryTrip(name: "Alps"))
        try context.save()
        let last = try #require(context.fetchHistory(Descriptor()).last)
        #expect(tokens?[last.storeIdentifier] as? DefaultHistoryToken == last.token)
        #expect(tokens?.count == 1)
    }
}

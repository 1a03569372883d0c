import Foundation
import SwiftData
import Testing

private let kinds = Source.source(
    "Hacking with Swift, What kind of data can be a SwiftData property?",
    "https://www.hackingwithswift.com/quick-start/swiftdata/what-kind-of-data-can-be-a-swiftdata-property")
private let structs = Source.source(
    "Hacking with Swift, Using structs and enums in SwiftData models",
    "https://www.hackingwithswift.com/quick-start/swiftdata/using-structs-and-enums-in-swiftdata-models")
private let article = Source.reference("preserving-your-apps-model-data-across-launches")

@Suite struct ValueFormQuestions {
    /// A crate as another context reads it, after its values were set before the insertion, and after they were set in a saved model.
    private func stored(_ kind: StoreKind, _ set: (Crate) -> Void, _ check: (Crate) throws -> Void) throws {
        let stack = try Stack(kind, Crate.self), new = Crate(number: 1), changed = Crate(number: 2)
        set(new)
        try stack.save(new, changed)
        set(changed)
        try stack.context.save()
        let found = try stack.stored(Crate.self)
        #expect(found.count == 2)
        for crate in found + [new, changed] { try check(crate) }
    }

    private let reading = Reading(
        taken: Date(timeIntervalSinceReferenceDate: 7.5), key: UUID(), page: URL(string: "https://example.org/a"),
        price: Decimal(string: "19.99") ?? 0, phase: .late, former: .early, marks: [3, 1, 3], names: ["a": "b"],
        range: .init(low: -1, high: nil))

    @Test(structs, arguments: StoreKind.allCases)
    func `A structure may have dates, keys, decimals, enumerations, arrays and optional structures inside`(kind: StoreKind) throws {
        try stored(kind) { $0.reading = reading } _: { #expect($0.reading == reading) }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `A part of a structure may become nil, or get a value`(kind: StoreKind) throws {
        let stack = try Stack(kind, Crate.self), crate = Crate(number: 1)
        crate.reading = reading
        try stack.save(crate)
        crate.reading?.range = nil
        crate.reading?.former = nil
        crate.reading?.page = nil
        try stack.context.save()
        var found = try #require(try stack.stored(Crate.self).first?.reading)
        #expect(found.range == nil && found.former == nil && found.page == nil && found.phase == .late && found.marks == [3, 1, 3])
        crate.reading?.range = .init(low: 2, high: 3)
        crate.reading?.former = .late
        try stack.context.save()
        found = try #require(try stack.stored(Crate.self).first?.reading)
        #expect(found.range == .init(low: 2, high: 3) && found.former == .late)
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A structure with coded names of its own is stored`(kind: StoreKind) throws {
        let payload = Payload(weight: 2.5, isFragile: true)
        try stored(kind) { $0.payload = payload } _: { #expect($0.payload == payload) }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A structure that encodes itself as one value is stored`(kind: StoreKind) throws {
        try stored(kind) { $0.percentage = Percentage(40) } _: { #expect($0.percentage == Percentage(40)) }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A generic structure and one that holds itself are stored`(kind: StoreKind) throws {
        let branch = Branch(name: "a", branches: [Branch(name: "b", branches: [Branch(name: "c")]), Branch(name: "d")])
        try stored(kind) { ($0.pair, $0.branch) = (Pair(first: 1, second: "x"), branch) } _: {
            #expect($0.pair == Pair(first: 1, second: "x") && $0.branch == branch)
        }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `An enumeration without raw values is stored, alone and in an array`(kind: StoreKind) throws {
        try stored(kind) { ($0.weather, $0.weathers) = (.rain, [.sun, .rain, .sun]) } _: {
            #expect($0.weather == .rain && $0.weathers == [.sun, .rain, .sun])
        }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `An option set is stored`(kind: StoreKind) throws {
        try stored(kind) { $0.flags = [.one, .four] } _: { #expect($0.flags == [.one, .four]) }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `Arrays of arrays, of optional values, of keys, of addresses and of dates are stored`(kind: StoreKind) throws {
        let keys = [UUID(), UUID()], dates = [Date(timeIntervalSinceReferenceDate: 1.25), .distantPast]
        let pages = ["https://example.org", "file:///a"].compactMap(URL.init(string:))
        try stored(kind) {
            ($0.table, $0.gaps, $0.keys, $0.pages, $0.dates) = ([[1, 2], [], [3]], ["a", nil], keys, pages, dates)
        } _: {
            #expect($0.table == [[1, 2], [], [3]] && $0.gaps == ["a", nil] && $0.keys == keys && $0.pages == pages && $0.dates == dates)
        }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `A dictionary by an enumeration and an array of structures are stored`(kind: StoreKind) throws {
        try stored(kind) { ($0.byPhase, $0.readings) = ([.early: 1, .late: 2], [reading, reading]) } _: {
            #expect($0.byPhase == [.early: 1, .late: 2] && $0.readings == [reading, reading])
        }
    }

    @Test(article, arguments: StoreKind.allCases)
    func `Codable types of Foundation are stored: time zones, locales, intervals and components of dates`(kind: StoreKind) throws {
        let interval = DateInterval(start: Date(timeIntervalSinceReferenceDate: 5), duration: 60)
        let components = DateComponents(year: 2026, month: 2)
        try stored(kind) {
            ($0.zone, $0.locale) = (TimeZone(secondsFromGMT: 3600), Locale(identifier: "de_CH"))
            ($0.interval, $0.components) = (interval, components)
        } _: {
            #expect($0.zone?.secondsFromGMT() == 3600 && $0.locale?.identifier == "de_CH")
            #expect($0.interval == interval && $0.components?.year == 2026 && $0.components?.month == 2 && $0.components?.day == nil)
        }
    }

    @Test(article, arguments: StoreKind.allCases)
    func `Ranges, measurements, sizes and durations are stored`(kind: StoreKind) throws {
        let length = Measurement(value: 2.5, unit: UnitLength.kilometers), size = CGSize(width: 3, height: 4.5)
        try stored(kind) {
            ($0.span, $0.length, $0.size, $0.elapsed, $0.duration) = (2...5, length, size, 1.5, .milliseconds(1500))
        } _: {
            #expect($0.span == 2...5 && $0.length == length && $0.size == size && $0.elapsed == 1.5 && $0.duration == .milliseconds(1500))
        }
    }

    @Test(article, arguments: StoreKind.allCases)
    func `Each of them may be nil, and nil again`(kind: StoreKind) throws {
        let stack = try Stack(kind, Crate.self), crate = Crate(number: 1)
        (crate.reading, crate.zone, crate.span, crate.weather, crate.flags, crate.branch) = (reading, .gmt, 1...2, .sun, .one, Branch(name: "a"))
        try stack.save(crate)
        (crate.reading, crate.zone, crate.span, crate.weather, crate.flags, crate.branch) = (nil, nil, nil, nil, nil, nil)
        try stack.context.save()
        let found = try #require(try stack.stored(Crate.self).first)
        #expect(found.reading == nil && found.zone == nil && found.span == nil && found.weather == nil && found.flags == nil)
        #expect(found.branch == nil && found.size == nil && found.duration == nil && found.length == nil && found.locale == nil)
    }

    @Test(article)
    func `All forms of values are there at the next launch`() throws {
        let stack = try Stack(.database, Crate.self), crate = Crate(number: 1)
        (crate.reading, crate.payload, crate.span, crate.weather) = (reading, Payload(weight: 1, isFragile: true), 1...3, .rain)
        (crate.byPhase, crate.gaps, crate.flags) = ([.late: 4], [nil, "b"], [.four])
        try stack.save(crate)
        let found = try #require(try stack.reopened().stored(Crate.self).first)
        #expect(found.reading == reading && found.payload == Payload(weight: 1, isFragile: true) && found.span == 1...3)
        #expect(found.weather == .rain && found.byPhase == [.late: 4] && found.gaps == [nil, "b"] && found.flags == [.four])
    }

    // MARK: Values by key paths

    @Test(.reference("persistentmodel/getvalue(forkey:)"), arguments: StoreKind.allCases)
    func `getValue and setValue read and write a property by its key path`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1)
        garden.setValue(forKey: \.area, to: 4)
        #expect(garden.getValue(forKey: \.area) == 4)
        try stack.save(garden, bed)
        garden.setValue(forKey: \.area, to: 5)
        bed.setValue(forKey: \.garden, to: garden)
        #expect(garden.area == 5 && garden.hasChanges)
        try stack.context.save()
        let found = try #require(try stack.stored(Bed.self).first)
        #expect(found.getValue(forKey: \.garden)?.getValue(forKey: \.name) == "Kew")
    }

    // MARK: Identities of the program's own

    @Test(.reference("maintaining-a-local-copy-of-server-data"), arguments: StoreKind.allCases)
    func `A model may have a unique id of its own, by which the server's data update it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Member.self), id = UUID(), member = Member(id: id, name: "old")
        #expect(member.id == id)
        try stack.save(member)
        let identifier = member.persistentModelID
        for _ in 1...2 { try stack.save(Member(id: id, name: "new")) }
        let found = try stack.stored(Member.self)
        #expect(found.map(\.name) == ["new"] && found.map(\.id) == [id] && found.map(\.persistentModelID) == [identifier])
    }

    @Test(.reference("maintaining-a-local-copy-of-server-data"), arguments: StoreKind.allCases)
    func `A model that the program holds shows what the server's data have updated`(kind: StoreKind) throws {
        let stack = try Stack(kind, Member.self), member = Member(id: UUID(), name: "old")
        try stack.save(member)
        try stack.save(Member(id: member.id, name: "new"))
        #expect(member.name == "new")
    }
}

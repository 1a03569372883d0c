import Foundation
import SwiftData
import Testing

private let kinds = Source.source(
    "Hacking with Swift, What kind of data can be a SwiftData property?",
    "https://www.hackingwithswift.com/quick-start/swiftdata/what-kind-of-data-can-be-a-swiftdata-property")
private let structs = Source.source(
    "Hacking with Swift, Using structs and enums in SwiftData models",
    "https://www.hackingwithswift.com/quick-start/swiftdata/using-structs-and-enums-in-swiftdata-models")
private let codable = Source.source(
    "Fatbobman, Considerations for using Codable and enums in SwiftData models",
    "https://fatbobman.com/en/posts/considerations-for-using-codable-and-enums-in-swiftdata-models/")
private let article = Source.reference("preserving-your-apps-model-data-across-launches")

@Suite struct ValueQuestions {
    /// The specimen as another context reads it after its values were set in two ways: before the insertion, and in a saved model.
    private func stored(_ kind: StoreKind, _ set: (Specimen) -> Void, _ check: (Specimen) throws -> Void) throws {
        let stack = try Stack(kind, Specimen.self), new = Specimen(number: 1), changed = Specimen(number: 2)
        set(new)
        try stack.save(new, changed)
        set(changed)
        try stack.context.save()
        let found = try stack.stored(Specimen.self)
        #expect(found.count == 2)
        for specimen in found + [new, changed] { try check(specimen) }
    }

    @Test(article, arguments: StoreKind.allCases)
    func `Properties of primitive types are stored`(kind: StoreKind) throws {
        try stored(kind) {
            ($0.flag, $0.small, $0.ratio, $0.share, $0.text) = (true, -5, 0.1, 2.5, "ä 🦊")
        } _: {
            #expect($0.flag && $0.small == -5 && $0.ratio == 0.1 && $0.share == 2.5 && $0.text == "ä 🦊")
        }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A UUID, a URL and data are stored`(kind: StoreKind) throws {
        let key = UUID(), page = URL(string: "https://example.org/a?b=c#d"), image = Data([0, 255, 7])
        try stored(kind) { ($0.key, $0.page, $0.image) = (key, page, image) } _: {
            #expect($0.key == key && $0.page == page && $0.image == image)
        }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A date is stored to the fraction of a second`(kind: StoreKind) throws {
        for seconds in [0, -3.25, 800_000_000.123456] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            try stored(kind) { $0.found = date } _: { #expect($0.found == date) }
        }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A decimal number is stored without rounding`(kind: StoreKind) throws {
        for text in ["0.1", "-12345678901234567890.123", "19.99"] {
            let price = try #require(Decimal(string: text))
            try stored(kind) { $0.price = price } _: { #expect($0.price == price) }
        }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `An enumeration with raw values is stored, of texts or of numbers`(kind: StoreKind) throws {
        try stored(kind) { ($0.colour, $0.grade) = (.blue, .second) } _: { #expect($0.colour == .blue && $0.grade == .second) }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `An enumeration's associated values are stored with its case`(kind: StoreKind) throws {
        let all = [Growth.seed, .leaves(3), .bloom(colour: .green, since: Date(timeIntervalSinceReferenceDate: 5.5))]
        for growth in all { try stored(kind) { $0.growth = growth } _: { #expect($0.growth == growth) } }
    }

    @Test(kinds, arguments: StoreKind.allCases)
    func `A Codable structure is stored, with a structure inside of it`(kind: StoreKind) throws {
        let spot = Spot(x: 1.5, y: -2, name: "n", height: .init(low: 3, high: 4))
        try stored(kind) { ($0.spot, $0.home) = (spot, spot) } _: { #expect($0.spot == spot && $0.home == spot) }
    }

    @Test(article, arguments: StoreKind.allCases)
    func `Optional values become nil again`(kind: StoreKind) throws {
        let stack = try Stack(kind, Specimen.self), specimen = Specimen(number: 1)
        (specimen.grade, specimen.home, specimen.remarks, specimen.note) = (.first, Spot(x: 1, y: 1), ["a"], "n")
        specimen.page = URL(string: "https://example.org")
        try stack.save(specimen)
        (specimen.grade, specimen.home, specimen.remarks, specimen.note, specimen.page) = (nil, nil, nil, nil, nil)
        try stack.context.save()
        let found = try #require(try stack.stored(Specimen.self).first)
        #expect(found.grade == nil && found.home == nil && found.remarks == nil && found.note == nil && found.page == nil)
    }

    @Test(article, arguments: StoreKind.allCases)
    func `An empty value of an optional property is not nil`(kind: StoreKind) throws {
        try stored(kind) { ($0.note, $0.remarks) = ("", []) } _: { #expect($0.note == "" && $0.remarks == []) }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `An array of texts is stored in its order, with what occurs twice`(kind: StoreKind) throws {
        let tags = ["b", "a", "c", "a", ""]
        try stored(kind) { $0.tags = tags } _: { #expect($0.tags == tags) }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `Arrays of structures and of enumerations are stored`(kind: StoreKind) throws {
        let spots = [Spot(x: 1, y: 2), Spot(x: 3, y: 4, name: "n")], colours = [Colour.blue, .red, .blue]
        try stored(kind) { ($0.spots, $0.colours) = (spots, colours) } _: { #expect($0.spots == spots && $0.colours == colours) }
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `Dictionaries and sets of values are stored`(kind: StoreKind) throws {
        try stored(kind) { ($0.counts, $0.marks) = (["a": 1, "b": -2], [3, 5]) } _: {
            #expect($0.counts == ["a": 1, "b": -2] && $0.marks == [3, 5])
        }
    }

    @Test(codable, arguments: StoreKind.allCases)
    func `A structure is a composite attribute of its parts`(kind: StoreKind) throws {
        let entity = try #require(try Stack(kind, Specimen.self).container.schema.entity(for: Specimen.self))
        let spot = try #require(entity.attributesByName["spot"] as? Schema.CompositeAttribute)
        #expect(spot.properties.map(\.name) == ["x", "y", "name", "height"])
    }

    @Test(codable, arguments: StoreKind.allCases)
    func `A part of a structure can be set, which changes the model`(kind: StoreKind) throws {
        let stack = try Stack(kind, Specimen.self), specimen = Specimen(number: 1)
        try stack.save(specimen)
        specimen.spot.height.high = 9
        #expect(specimen.hasChanges)
        try stack.context.save()
        #expect(try stack.stored(Specimen.self).map(\.spot.height.high) == [9])
    }

    @Test(structs, arguments: StoreKind.allCases)
    func `An array of values can be changed in its place, which changes the model`(kind: StoreKind) throws {
        let stack = try Stack(kind, Specimen.self), specimen = Specimen(number: 1)
        try stack.save(specimen)
        specimen.tags.append("a")
        specimen.counts["b", default: 0] += 2
        #expect(specimen.hasChanges)
        try stack.context.save()
        let found = try #require(try stack.stored(Specimen.self).first)
        #expect(found.tags == ["a"] && found.counts == ["b": 2])
    }

    @Test(article, arguments: StoreKind.allCases)
    func `The declared default is the value of a new model, and is stored`(kind: StoreKind) throws {
        let stack = try Stack(kind, Specimen.self), specimen = Specimen(number: 1)
        #expect(specimen.colour == .red && specimen.spot == Spot(x: 0, y: 0) && specimen.growth == .seed)
        try stack.save(specimen)
        let found = try #require(try stack.stored(Specimen.self).first)
        #expect(found.colour == .red && found.spot == Spot(x: 0, y: 0) && found.growth == .seed && found.key == specimen.key)
    }

    @Test(article)
    func `Values are there when the app is launched again`() throws {
        let stack = try Stack(.database, Specimen.self), specimen = Specimen(number: 1)
        (specimen.growth, specimen.home, specimen.tags) = (.leaves(4), Spot(x: 1, y: 2), ["t"])
        try stack.save(specimen)
        let found = try #require(try stack.reopened().stored(Specimen.self).first)
        #expect(found.growth == .leaves(4) && found.home == Spot(x: 1, y: 2) && found.tags == ["t"] && found.key == specimen.key)
    }
}

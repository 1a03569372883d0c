import Foundation
import Testing

@testable import Heartwood

/// Changes for which no mapping is inferred, and migrated stores that violate the new model.
@Suite struct InferenceTests {
    struct Failure: CustomTestStringConvertible, Sendable {
        let before: String
        let after: String
        let reason: String
        let entity: String
        let property: String?
        var testDescription: String { reason }
    }

    static let failures = [
        Failure(
            before: "A: x:string", after: "A: x:int32", reason: "Source and destination attribute types are incompatible", entity: "A",
            property: "x"),
        Failure(
            before: "A: x:date", after: "A: y:double~x", reason: "Source and destination attribute types are incompatible", entity: "A",
            property: "y"),
        Failure(before: "A: x>>A", after: "A: x>A", reason: "A relationship to many has become one to one", entity: "A", property: "x"),
        Failure(
            before: "A: x:string", after: "A: x>A", reason: "Source and destination properties are of different kinds", entity: "A", property: "x"),
        Failure(
            before: "A: n:string", after: "B~A: n:string\nC~A: n:string", reason: "Two entities have the renaming identifier \"A\"", entity: "C",
            property: nil),
        Failure(
            before: "A: n:string", after: "A: x:string~n y:string~n", reason: "Two properties have the renaming identifier \"n\"", entity: "A",
            property: "y"),
        Failure(
            before: "A: n:string", after: "*A: n:string\nB < A:", reason: "The entity has become abstract, and may have objects", entity: "A",
            property: nil),
    ]

    @Test(arguments: failures)
    func `A change that leaves values undefined is refused`(failure: Failure) throws {
        let before = Sketch(failure.before).model, after = Sketch(failure.after).model
        let direct = #expect(throws: (any Error).self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: before, destinationModel: after)
        } as NSError?
        #expect(code(direct) == NSInferredMappingModelError)
        #expect(direct?.userInfo["reason"] as? String == failure.reason)
        #expect(direct?.userInfo["entity"] as? String == failure.entity && direct?.userInfo["property"] as? String == failure.property)
        let chain = try Chain()
        try chain.with(Sketch(failure.before)) { $0.make("A") }
        let contents = try Data(contentsOf: chain.url)
        let error = #expect(throws: (any Error).self) { try chain.with(Sketch(failure.after)) { _ in } } as NSError?
        #expect(code(error) == NSMigrationMissingMappingModelError)
        #expect(error?.userInfo["reason"] as? String == "Can't find or automatically infer mapping model for migration")
        #expect(error?.userInfo["sourceModel"] is NSManagedObjectModel && error?.userInfo["destinationModel"] is NSManagedObjectModel)
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(code(cause) == NSInferredMappingModelError && cause?.userInfo["reason"] as? String == failure.reason)
        #expect(try Data(contentsOf: chain.url) == contents && chain.scratch.names == ["store"], "the store is as it was")
    }

    /// A public app's tests rely on this behaviour of Core Data's inference.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A relationship that now leads to a subentity starts empty`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try chain.with(Sketch("Show: name:string images>>Image/show\nImage: slug:string show>Show/images")) { context in
            let show = context.make("Show"), image = context.make("Image")
            show.setValue("Open", forKey: "name")
            image.setValue("a", forKey: "slug")
            image.setValue(show, forKey: "show")
        }
        try chain.with(Sketch("Show: name:string images>>Shot/show\nImage: slug:string\nShot < Image: show>Show/images")) { context in
            let show = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Show")).first)
            #expect(show.value(forKey: "name") as? String == "Open" && (show.value(forKey: "images") as? NSSet)?.count == 0)
            let images = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Image"))
            #expect(images.map { $0.value(forKey: "slug") as? String } == ["a"])
            let shot = context.make("Shot")
            shot.setValue(show, forKey: "show")
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A relationship that now leads to another entity starts empty`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try chain.with(Sketch("Show: name:string cover>Work works>>Work part>>Show\nWork: slug:string\nImage: slug:string")) { context in
            let show = context.make("Show"), work = context.make("Work"), image = context.make("Image")
            show.setValue("Open", forKey: "name")
            show.setValue(work, forKey: "cover")
            show.setValue(Set([work]), forKey: "works")
            show.setValue(Set([show]), forKey: "part")
            work.setValue("w", forKey: "slug")
            image.setValue("i", forKey: "slug")
        }
        let after = "Show: name:string cover>Image/shows works>>Image part>>Work\nWork: slug:string\nImage: slug:string shows>>Show/cover"
        for round in 0..<2 {
            try chain.with(Sketch(after)) { context in
                let show = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Show")).first)
                let image = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Image")).first)
                #expect(show.value(forKey: "name") as? String == "Open" && image.value(forKey: "slug") as? String == "i")
                #expect(show.value(forKey: "cover") as? NSManagedObject === (round == 0 ? nil : image))
                #expect((show.value(forKey: "works") as? NSSet)?.count == round && (show.value(forKey: "part") as? NSSet)?.count == 0)
                #expect((image.value(forKey: "shows") as? NSSet)?.count == round)
                show.setValue(image, forKey: "cover")
                show.setValue(Set([image]), forKey: "works")
            }
        }
        let comparison = try ModelComparison(
            from: Sketch("A: x>B\nB: n:string\nC: n:string").model, to: Sketch("A: x>C\nB: n:string\nC: n:string").model)
        #expect(comparison.pairs.allSatisfy { !$0.added.contains { $0.name == "n" } } && comparison.pairs.flatMap(\.added).map(\.name) == ["x"])
    }

    @Test
    func `A renaming identifier goes before a name`() throws {
        // The old "name" was once "title", and there is a new "title" beside it.
        let before = Sketch("A: name:string~title").model, after = Sketch("A: name:string title:string").model
        let comparison = try ModelComparison(from: before, to: after)
        #expect(comparison.pairs[0].properties.map { "\($0.source.name) \($0.destination.name)" } == ["name title"])
        #expect(comparison.pairs[0].added.map(\.name) == ["name"])
    }

    @Test
    func `If an attribute and a relationship claim one property, the one of its kind gets it`() throws {
        for (before, after, matched, added) in [
            ("A: b:string", "A: title:string~b b>A", "b title", "b"), ("A: b:string", "A: b>A title:string~b", "b title", "b"),
            ("A: b>A", "A: b:string other>A~b", "b other", "b"),
        ] {
            let comparison = try ModelComparison(from: Sketch(before).model, to: Sketch(after).model)
            #expect(comparison.pairs[0].properties.map { "\($0.source.name) \($0.destination.name)" } == [matched])
            #expect(comparison.pairs[0].added.map(\.name) == [added])
        }
        let chain = try Chain()
        try chain.with(Sketch("A: b:string")) { $0.make("A", ["b": "kept"]) }
        #expect(try chain.lines(Sketch("A: title:string~b b>A")) == ["A: b=- title=kept"])
    }

    @Test
    func `An inferred mapping is named as Core Data names it`() throws {
        let before = Sketch("Same: n:string\nOld: n:string\nGone: n:string"),
            after = Sketch("Same: n:string\nNew~Old: n:string x:string\nMore: n:string")
        let model = try NSMappingModel.inferredMappingModel(forSourceModel: before.model, destinationModel: after.model)
        #expect(model.entityMappingsByName.keys.sorted() == ["IEM_Add_More", "IEM_Copy_Same", "IEM_Remove_Gone", "IEM_Transform_New"])
        let mapping = try #require(model.entityMappingsByName["IEM_Transform_New"])
        #expect(mapping.sourceEntityName == "Old" && mapping.destinationEntityName == "New" && mapping.mappingType == .transformEntityMappingType)
        #expect(mapping.sourceEntityVersionHash == before.model.entityVersionHashesByName["Old"])
        #expect(mapping.attributeMappings?.map { "\($0.name!) \($0.valueExpression.map { "\($0)" } ?? "-")" } == ["n $source.n", "x -"])
        #expect(
            mapping.sourceExpression?.description
                == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Old\", \"TRUEPREDICATE\"), $manager.sourceContext, NO)"
                || mapping.sourceExpression?.description.hasPrefix("FETCH(FUNCTION($manager, ") == true)
        #expect(model.entityMappingsByName["IEM_Remove_Gone"]?.mappingType == .removeEntityMappingType)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A required property must have a value`(kind: StoreKind) throws {
        for (after, reason, property) in [
            ("A: name:string age:int32!", MigrationErrors.missingAttribute, "age"),
            ("A: name:string! age:int32", MigrationErrors.missingAttribute, "name"),
            ("A: name:string age:int32 friend>A!", MigrationErrors.missingRelationship, "friend"),
        ] {
            let chain = try Chain(kind)
            try chain.with(Sketch("A: name:string age:int32")) { context in
                context.make("A", ["name": "x", "age": 1])
                context.make("A")
            }
            let contents = try Data(contentsOf: chain.url)
            let error = #expect(throws: (any Error).self) { try chain.with(Sketch(after)) { _ in } } as NSError?
            #expect(code(error) == NSMigrationError && error?.userInfo["reason"] as? String == reason, "\(String(describing: error))")
            #expect(error?.userInfo["entity"] as? String == "A" && error?.userInfo["property"] as? String == property)
            #expect(try Data(contentsOf: chain.url) == contents && chain.scratch.names == ["store"])
        }
        // A store without objects lacks no value.
        let empty = try Chain(kind)
        try empty.with(Sketch("A: name:string")) { _ in }
        #expect(try empty.lines(Sketch("A: name:string age:int32!")).isEmpty)
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A number that does not fit ends the migration`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        try chain.with(Sketch("A: x:int64")) { $0.make("A", ["x": 40_000]) }
        let error = #expect(throws: (any Error).self) { try chain.with(Sketch("A: x:int16")) { _ in } } as NSError?
        #expect(code(error) == NSMigrationError && error?.userInfo["property"] as? String == "x")
        #expect(try chain.lines(Sketch("A: x:int64")) == ["A: x=40000"])
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Objects of subentities have to be unique together`(kind: StoreKind) throws {
        func version(_ text: String, _ entities: [String]) -> NSManagedObjectModel {
            let model = Sketch(text).model
            for name in entities { model.entitiesByName[name]?.uniquenessConstraints = [["name"]] }
            return model
        }
        let family = "*Thing: name:string\nBook < Thing:\nToy < Thing:", apart = "Book: name:string\nToy: name:string"
        for (before, names) in [(family, []), (apart, ["Book", "Toy"])] {
            let chain = try Chain(kind)
            try chain.with(version(before, names)) { context in
                for entity in ["Book", "Toy"] { context.make(entity, ["name": "x"]) }
            }
            let error = #expect(throws: (any Error).self) { try chain.with(version(family, ["Thing"])) { _ in } }
            #expect(code(error) == NSMigrationConstraintViolationError)
            try chain.with(version(before, names)) {
                try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Toy"))[0].setValue("y", forKey: "name")
            }
            #expect(try chain.lines(version(family, ["Thing"])) == ["Book: name=x", "Toy: name=y"])
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Values that become unique must be unique`(kind: StoreKind) throws {
        func after() -> NSManagedObjectModel {
            let model = Sketch("A: name:string").model
            model.entities[0].uniquenessConstraints = [["name"]]
            return model
        }
        let chain = try Chain(kind)
        try chain.with(Sketch("A: name:string")) { context in for name in ["x", "y", "x"] { context.make("A", ["name": name]) } }
        let error = #expect(throws: (any Error).self) { try chain.with(after()) { _ in } } as NSError?
        #expect(code(error) == NSMigrationConstraintViolationError)
        try chain.with(Sketch("A: name:string")) { context in
            context.delete(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first { $0.value(forKey: "name") as? String == "x" }!)
        }
        #expect(try chain.lines(after()) == ["A: name=x", "A: name=y"])
    }
}

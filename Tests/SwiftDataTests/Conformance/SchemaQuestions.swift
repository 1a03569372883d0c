import Foundation
import SwiftData
import Testing

@Suite struct SchemaQuestions {
    private let schema = Schema([Garden.self, Specimen.self, Seed.self, Coat.self, Canoe.self, Pond.self, Shed.self])

    private func entity<Model: PersistentModel>(_ type: Model.Type) throws -> Schema.Entity { try #require(schema.entity(for: type)) }

    @Test(.reference("schema/entityname(for:)"))
    func `An entity has its class's name`() throws {
        #expect(Schema.entityName(for: Garden.self) == "Garden" && schema.entitiesByName["Garden"]?.name == "Garden")
        #expect(try entity(Garden.self) === schema.entitiesByName["Garden"])
        #expect(schema.entity(for: Building.self) == nil)
    }

    @Test(.reference("schema/entity/attributes"))
    func `An entity has the attributes of its class, by name`() throws {
        let garden = try entity(Garden.self)
        #expect(garden.attributesByName.keys.sorted() == ["area", "name", "opened"])
        #expect(garden.attributes.map(\.name).sorted() == ["area", "name", "opened"])
        #expect(garden.relationshipsByName.keys.sorted() == ["beds", "gardeners"])
        #expect(Set(garden.properties.map(\.name)) == ["area", "name", "opened", "beds", "gardeners"])
    }

    @Test(.reference("schema/attribute"))
    func `An attribute knows its type, whether it is optional, and its default value`() throws {
        let attributes = try entity(Specimen.self).attributesByName
        #expect(attributes["number"]?.valueType == Int.self && attributes["number"]?.isOptional == false)
        #expect(attributes["note"]?.isOptional == true && attributes["price"]?.valueType == Decimal.self)
        #expect(attributes["colour"]?.defaultValue as? Colour == .red && attributes["number"]?.defaultValue == nil)
    }

    @Test(.reference("schema/attribute/option"))
    func `An attribute knows the options that its property states`() throws {
        let garden = try entity(Garden.self)
        #expect(garden.attributesByName["name"]?.isUnique == true && garden.attributesByName["name"]?.options == [.unique])
        #expect(garden.attributesByName["area"]?.isUnique == false && garden.attributesByName["area"]?.options == [])
        #expect(garden.uniquenessConstraints == [["name"]])
    }

    @Test(.reference("schema/attribute/originalname"))
    func `A property's original name is its name, unless it states another`() throws {
        #expect(try entity(Garden.self).attributesByName["area"]?.originalName == "area")
        let letter = try #require(Schema([After.Letter.self]).entity(for: After.Letter.self))
        #expect(letter.attributesByName["content"]?.originalName == "text" && letter.relationshipsByName["reply"]?.originalName == "answer")
    }

    @Test(.reference("schema/relationship"))
    func `A relationship knows its destination, its inverse and its delete rule`() throws {
        let beds = try #require(try entity(Garden.self).relationshipsByName["beds"])
        #expect(beds.destination == "Bed" && beds.inverseName == "garden" && beds.deleteRule == .cascade && !beds.isToOneRelationship)
        #expect(beds.isRelationship && !beds.isAttribute && !beds.isTransient)
        let garden = try #require(try entity(Bed.self).relationshipsByName["garden"])
        #expect(garden.destination == "Garden" && garden.inverseName == "beds" && garden.deleteRule == .nullify && garden.isToOneRelationship)
    }

    @Test(.reference("schema/relationship/deleterule-swift.property"))
    func `Each delete rule is in the schema`() throws {
        #expect(try entity(Shed.self).relationshipsByName["rakes"]?.deleteRule == .deny)
        #expect(try entity(Pond.self).relationshipsByName["fish"]?.deleteRule == .noAction)
        #expect(Schema.Relationship.DeleteRule.cascade.rawValue == "cascade" && Schema.Relationship().deleteRule == .nullify)
    }

    @Test(.reference("schema/relationship/minimummodelcount"))
    func `A relationship knows its least and greatest number of models, which are 0 without a statement`() throws {
        let rowers = try #require(try entity(Canoe.self).relationshipsByName["rowers"])
        #expect(rowers.minimumModelCount == 1 && rowers.maximumModelCount == 2)
        let beds = try #require(try entity(Garden.self).relationshipsByName["beds"])
        #expect(beds.minimumModelCount == 0 && beds.maximumModelCount == 0)
        #expect(try entity(Coat.self).relationshipsByName["badge"]?.isUnique == true)
    }

    @Test(.reference("schema/compositeattribute"))
    func `A structure is an attribute with the attributes of its parts, also inside of another`() throws {
        let spot = try #require(try entity(Specimen.self).attributesByName["spot"] as? Schema.CompositeAttribute)
        #expect(spot.properties.map(\.name) == ["x", "y", "name", "height"] && spot.properties.map(\.isOptional) == [false, false, true, false])
        let height = try #require(spot.properties.last as? Schema.CompositeAttribute)
        #expect(height.properties.map(\.name) == ["low", "high"])
    }

    @Test(.reference("schema/version-swift.struct"))
    func `Versions have an order and a description, and a schema has 1.0.0 without a statement`() {
        let versions = [Schema.Version(2, 0, 0), Schema.Version(1, 10, 0), Schema.Version(1, 2, 9), Schema.Version(1, 2, 10)]
        #expect(versions.sorted().map(\.description) == ["1.2.9", "1.2.10", "1.10.0", "2.0.0"])
        #expect(schema.version == Schema.Version(1, 0, 0) && Schema([Pond.self], version: Schema.Version(2, 1, 0)).version.minor == 1)
    }

    @Test(.reference("schema/init(versionedschema:)"))
    func `A versioned schema gives its classes and its version`() {
        let schema = Schema(versionedSchema: PondsV3.self)
        #expect(schema.version == Schema.Version(3, 1, 4) && schema.entitiesByName.keys.sorted() == ["Fish", "Pond"])
    }

    @Test(.reference("schema"))
    func `Schemas of the same classes are equal in any order`() {
        #expect(Schema([Pond.self, Shed.self]) == Schema([Shed.self, Pond.self]))
        #expect(Schema([Pond.self, Shed.self]).hashValue == Schema([Shed.self, Pond.self]).hashValue)
        #expect(Schema([Pond.self]) != Schema([Shed.self]))
        #expect(Schema([Pond.self]) != Schema([Pond.self], version: Schema.Version(2, 0, 0)))
    }

    @Test(.reference("schema/encode(to:)"))
    func `A schema can be encoded, and is the same after it was decoded`() throws {
        let copy = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
        #expect(copy == schema && copy.encodingVersion == Schema.schemaEncodingVersion)
        #expect(copy.entitiesByName["Garden"]?.relationshipsByName["beds"]?.deleteRule == .cascade)
        #expect(copy.entitiesByName["Seed"]?.indices == [["genus"], ["species", "count"]])
        let spot = copy.entitiesByName["Specimen"]?.attributesByName["spot"] as? Schema.CompositeAttribute
        #expect(spot?.properties.map(\.name) == ["x", "y", "name", "height"])
    }

    @Test(.reference("schema/save(to:)"))
    func `A schema can be saved to a file and loaded, with the classes' inheritance`() throws {
        let folder = try TemporaryFolder(), url = folder.url.appending(path: "schema.json")
        let schema = Schema([Building.self, House.self, Villa.self])
        try schema.save(to: url)
        let loaded = try Schema.load(from: url)
        #expect(loaded == schema)
        #expect(loaded.entitiesByName["Villa"]?.inheritedPropertiesByName.keys.sorted() == ["floors", "name", "owner", "rooms"])
    }

    @Test(.reference("schema/entity/init(_:properties:)"))
    func `Entities can be made without classes`() {
        let title = Schema.Attribute(name: "title", options: [.unique], valueType: String.self, defaultValue: "none")
        let page = Schema.Entity("Page", properties: title, Schema.Attribute(name: "size", valueType: Int?.self))
        let schema = Schema(Schema.Entity("Leaf", subentities: page, properties: Schema.Attribute(name: "colour", valueType: String.self)), page)
        #expect(schema.entitiesByName["Page"]?.attributesByName["size"]?.isOptional == true)
        #expect(schema.entitiesByName["Page"]?.superentity?.name == "Leaf" && title.isUnique && title.defaultValue as? String == "none")
    }

    @Test(.reference("schema/attribute/option"))
    func `Options are values that can be compared and encoded`() throws {
        let options: [Schema.Attribute.Option] = [.unique, .ephemeral, .externalStorage, .transformable(by: "T")]
        #expect(Set(options).count == 4 && .transformable(by: "T") != Schema.Attribute.Option.transformable(by: "S"))
        #expect(try JSONDecoder().decode([Schema.Attribute.Option].self, from: JSONEncoder().encode(options)) == options)
        #expect(Schema.Attribute(.ephemeral).isTransient && Schema.Attribute(.transformable(by: "T")).isTransformable)
    }
}

private enum PondsV3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Pond.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 1, 4) }
}

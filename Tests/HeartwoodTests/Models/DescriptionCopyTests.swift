import Foundation
import Testing

@testable import Heartwood

@Suite struct DescriptionCopyTests {
    private static func rich() -> NSManagedObjectModel {
        let model = TestStack.model()
        let person = model.entitiesByName["Person"]!
        let address = NSCompositeAttributeDescription(), shout = NSDerivedAttributeDescription(), peers = NSFetchedPropertyDescription()
        address.name = "address"
        address.elements = [TestStack.attribute("city", .stringAttributeType), TestStack.attribute("zip", .integer32AttributeType)]
        shout.name = "shout"
        shout.attributeType = .stringAttributeType
        shout.derivationExpression = NSExpression(format: "uppercase:(name)")
        peers.name = "peers"
        peers.fetchRequest = NSFetchRequest(entityName: "Person")
        peers.fetchRequest?.predicate = NSPredicate(format: "age == $FETCH_SOURCE.age")
        person.properties += [address, shout, peers]
        person.propertiesByName["age"]?.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["young"])
        person.propertiesByName["age"]?.userInfo = ["k": "v"]
        person.indexes.append(
            TestStack.index("byWords", [("name", false), ("length:(name)", true)], among: person.propertiesByName, where: "age > 1"))
        person.userInfo = ["k": 1]
        return model
    }

    @Test
    func `Copies of a model's entities make an independent model`() throws {
        let model = Self.rich(), stack = try TestStack(.inMemory, model: model)
        let copies = model.entities.map { $0.copy() as! NSEntityDescription }
        #expect(copies.allSatisfy { $0.model == nil && $0.superentity == nil })
        let twin = NSManagedObjectModel()
        twin.entities = copies
        #expect(twin.entityVersionHashesByName == model.entityVersionHashesByName)
        let employee = try #require(twin.entitiesByName["Employee"]), person = try #require(twin.entitiesByName["Person"])
        #expect(employee.superentity === person && person.subentities == [employee] && employee.attributesByName["name"]?.entity === person)
        for entity in copies {
            #expect(entity.managedObjectModel === twin)
            for relationship in entity.relationshipsByName.values {
                #expect(copies.contains { $0 === relationship.destinationEntity })
                #expect(relationship.inverseRelationship?.inverseRelationship === relationship)
                #expect(relationship.inverseRelationship?.entity.managedObjectModel === twin)
            }
            #expect(entity.indexes.flatMap(\.elements).allSatisfy { $0.property is NSExpressionDescription || $0.property?.entity === person })
        }
        // A store of one model opens with the other, and the copies can be changed.
        stack.insert("Person", ["name": "Ann", "address.city": "Rome"])
        try stack.context.save()
        person.properties.append(TestStack.attribute("more", .stringAttributeType))
        #expect(twin.entityVersionHashesByName["Person"] != model.entityVersionHashesByName["Person"])
        let other = try TestStack(.inMemory, model: twin)
        let group = other.insert("Group", ["title": "G"])
        let new = other.insert("Employee", ["name": "Bob", "more": "x", "group": group])
        try other.context.save()
        #expect(new.value(forKey: "shout") as? String == "BOB" && (group.value(forKey: "people") as? NSSet)?.count == 1)
        #expect(try other.fetch("Person", "age > 0 AND name == 'Bob'").count == 1)
    }

    @Test
    func `A copy of a property equals its original`() throws {
        let model = Self.rich(), stack = try TestStack(.inMemory, model: model)
        let person = try #require(model.entitiesByName["Person"])
        for property in person.properties {
            let copy = try #require(property.copy() as? NSPropertyDescription)
            #expect(type(of: copy) == type(of: property) && copy.name == property.name && copy.holder == nil && copy !== property)
            #expect(copy.versionHash == property.versionHash || property is NSFetchedPropertyDescription)
            copy.name = "changed"
            copy.isOptional.toggle()
            #expect(property.name != "changed")
        }
        let age = try #require(person.attributesByName["age"]?.copy() as? NSAttributeDescription)
        #expect(age.defaultValue as? Int == 1 && age.validationPredicates.count == 1 && age.validationWarnings as? [String] == ["young"])
        #expect(age.userInfo?["k"] as? String == "v")
        let address = try #require(person.propertiesByName["address"] as? NSCompositeAttributeDescription)
        let elements = try #require((address.copy() as? NSCompositeAttributeDescription)?.elements)
        #expect(elements.map(\.name) == ["city", "zip"] && elements[0] !== address.elements[0])
        let shout = (person.propertiesByName["shout"]?.copy() as? NSDerivedAttributeDescription)?.derivationExpression
        #expect(shout == (person.propertiesByName["shout"] as? NSDerivedAttributeDescription)?.derivationExpression)
        let peers = try #require(person.propertiesByName["peers"]?.copy() as? NSFetchedPropertyDescription)
        #expect(peers.fetchRequest?.predicate?.predicateFormat == "age == $FETCH_SOURCE.age" && peers.isTransient)
        let index = try #require(person.indexes.last?.copy() as? NSFetchIndexDescription)
        #expect(index.entity == nil && index.name == "byWords" && index.partialIndexPredicate != nil)
        #expect(index.elements.map(\.isAscending) == [false, true] && index.elements.allSatisfy { $0.indexDescription === index })
        index.elements[0].isAscending = true
        #expect(person.indexes.last?.elements[0].isAscending == false)
        let element = try #require(index.elements[0].copy() as? NSFetchIndexElementDescription)
        #expect(element.indexDescription == nil && element.propertyName == "name" && element.isAscending)
        let expression = NSExpressionDescription()
        expression.name = "n"
        expression.expression = NSExpression(format: "age + 1")
        expression.expressionResultType = .integer32AttributeType
        let copied = try #require(expression.copy() as? NSExpressionDescription)
        #expect(copied.expression == expression.expression && copied.expressionResultType == .integer32AttributeType && copied.name == "n")
        _ = stack
    }

    @Test
    func `A copy keeps its original's destinations`() throws {
        let model = TestStack.model()
        let person = try #require(model.entitiesByName["Person"]), copy = try #require(person.copy() as? NSEntityDescription)
        #expect(copy.relationshipsByName["group"]?.destinationEntity === model.entitiesByName["Group"])
        #expect(copy.relationshipsByName["partner"]?.destinationEntity === copy)
        #expect(copy.relationshipsByName["partner"]?.inverseRelationship === copy.relationshipsByName["partner"])
        #expect(
            copy.uniquenessConstraints as? [[String]] == [["email"]] && copy.userInfo?.isEmpty == true
                && copy.managedObjectClassName == person.managedObjectClassName)
        #expect(copy.propertiesByName["name"] !== person.propertiesByName["name"])
    }
}

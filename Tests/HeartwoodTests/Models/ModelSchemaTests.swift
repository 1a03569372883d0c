import Foundation
import Testing

@testable import Heartwood

/// The parts of model files other than attributes and relationships.
@Suite struct ModelSchemaTests {
    static let xml = """
        <entity name="Book" representedClassName="Book" syncable="NO" codeGenerationType="class">
          <attribute name="title" attributeType="String" preserveAfterDeletion="YES" indexed="YES"/>
          <attribute name="sortTitle" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical:(title)"/>
          <attribute name="cover" optional="YES" attributeType="Transformable" valueTransformerName="CoverTransformer" customClassName="Cover"/>
          <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
          <attribute name="year" optional="YES" attributeType="Integer 16" usesScalarValueType="YES" minValueString="1450"/>
          <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
          <fetchedProperty name="namesakes" optional="YES" elementID="twins">
            <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="title == $FETCH_SOURCE.title" fetchLimit="5"/>
            <userInfo><entry key="why" value="fun"/></userInfo>
          </fetchedProperty>
          <compoundIndexes><compoundIndex><index value="year"/><index value="title"/></compoundIndex></compoundIndexes>
        </entity>
        <entity name="Author">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="books.@count"/>
          <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        </entity>
        <composite name="Size"><attribute name="width" attributeType="Double"/><attribute name="inner" optional="YES" attributeType="Composite" composite="Area"/></composite>
        <composite name="Area"><attribute name="square" optional="YES" attributeType="Double" minValueString="0"/></composite>
        <fetchRequest name="byAuthor" entity="Book" predicateString="author.name == $NAME AND year > 1900" fetchLimit="10" fetchBatchSize="20" includeSubentities="NO"/>
        <configuration name="Shelf"><memberEntity name="Book"/></configuration>
        <elements><element name="Book" positionX="0" positionY="0" width="128" height="75"/></elements>
        """

    @Test
    func `The whole schema is loaded`() throws {
        let model = try ModelTests.load(Self.xml)
        let book = try #require(model.entitiesByName["Book"])
        let attributes = book.attributesByName
        #expect(attributes["title"]?.preservesValueInHistoryOnDeletion == true && attributes["year"]?.preservesValueInHistoryOnDeletion == false)
        #expect((attributes["sortTitle"] as? NSDerivedAttributeDescription)?.derivationExpression == NSExpression(format: "canonical:(title)"))
        #expect(attributes["cover"]?.valueTransformerName == "CoverTransformer" && attributes["cover"]?.attributeValueClassName == "Cover")
        #expect(attributes["title"]?.attributeValueClassName == "NSString" && attributes["year"]?.attributeValueClassName == "NSNumber")
        let size = try #require(attributes["size"] as? NSCompositeAttributeDescription)
        #expect(size.attributeType == .compositeAttributeType && size.elements.map(\.name) == ["width", "inner"])
        #expect((size.elements[1] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["square"])
        #expect(book.indexes.map(\.name) == ["title", "year_title"])
        #expect(book.indexes.map { $0.elements.map(\.propertyName) } == [["title"], ["year", "title"]])
        let fetched = try #require(book.propertiesByName["namesakes"] as? NSFetchedPropertyDescription)
        #expect(fetched.fetchRequest?.entity === book && fetched.fetchRequest?.fetchLimit == 5 && fetched.renamingIdentifier == "twins")
        #expect(fetched.fetchRequest?.predicate?.predicateFormat == "title == $FETCH_SOURCE.title" && fetched.userInfo?["why"] as? String == "fun")
        #expect(model.entities(forConfigurationName: "Shelf") == [book] && model.configurations == ["Shelf"])
        let author = try #require(model.entitiesByName["Author"])
        #expect((author.attributesByName["count"] as? NSDerivedAttributeDescription)?.derivationExpression?.keyPath == "books.@count")
    }

    @Test
    func `Copies and stores keep the whole schema`() throws {
        let model = try ModelTests.load(Self.xml)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let archived = try model.archivedBytes()
        let again = try archived.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }
        for other in [copy, again] {
            #expect(ModelDocument(other) == ModelDocument(model) && other.versionChecksum == model.versionChecksum)
            let fetched = other.entitiesByName["Book"]?.propertiesByName["namesakes"] as? NSFetchedPropertyDescription
            #expect(fetched?.fetchRequest?.entity === other.entitiesByName["Book"])
            #expect(other.fetchRequestTemplate(forName: "byAuthor")?.entity === other.entitiesByName["Book"])
        }
    }

    @Test
    func `A change in how objects are stored changes the version`() throws {
        let before = try ModelTests.load(Self.xml).versionChecksum
        let same = [
            ("customClassName=\"Cover\"", ""), ("fetchLimit=\"5\"", ""), ("preserveAfterDeletion=\"YES\"", ""), ("CoverTransformer", "Other")]
        for (old, new) in same {
            let changed = Self.xml.replacingOccurrences(of: old, with: new)
            let after = try ModelTests.load(changed).versionChecksum
            #expect(changed != Self.xml && after == before, "\(old)")
        }
        for (old, new) in [("canonical:", "uppercase:"), ("name=\"square\"", "name=\"squares\""), ("books.@count", "books.@sum.year")] {
            let changed = Self.xml.replacingOccurrences(of: old, with: new)
            let after = try ModelTests.load(changed).versionChecksum
            #expect(changed != Self.xml && after != before, "\(old)")
        }
    }

    @Test
    func `Templates make requests with values in place of variables`() throws {
        let stack = try TestStack(
            .inMemory, model: try ModelTests.load(Self.xml.replacingOccurrences(of: "representedClassName=\"Book\"", with: "")))
        let model = stack.coordinator.managedObjectModel
        let author = stack.insert("Author", ["name": "Woolf"])
        stack.insert("Book", ["title": "Orlando", "year": 1928, "author": author])
        stack.insert("Book", ["title": "Old", "year": 1890, "author": author])
        try stack.context.save()
        let template = try #require(model.fetchRequestTemplate(forName: "byAuthor"))
        #expect(template.fetchLimit == 10 && template.fetchBatchSize == 20 && !template.includesSubentities && template.includesPendingChanges)
        let request = try #require(model.fetchRequestFromTemplate(withName: "byAuthor", substitutionVariables: ["NAME": "Woolf"]))
        let found = try stack.context.fetch(request).compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
        #expect(found == ["Orlando"])
        #expect(template.predicate?.predicateFormat.contains("$NAME") == true && request !== template && request.fetchLimit == 10)
        #expect(model.fetchRequestFromTemplate(withName: "none", substitutionVariables: [:]) == nil)
        #expect(throws: (any Error).self) { try stack.context.fetch(template) }
    }

    @Test
    func `Templates can be set and removed`() {
        let model = TestStack.model()
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Person"]
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        model.setFetchRequestTemplate(request, forName: "all")
        #expect(model.fetchRequestTemplatesByName["all"] === request)
        let copy = model.copy() as? NSManagedObjectModel
        #expect(copy?.fetchRequestTemplate(forName: "all")?.entity === copy?.entitiesByName["Person"])
        #expect(ModelDocument(model).fetchRequests?.first?.sort == [.init(key: "name", isAscending: false)])
        model.setFetchRequestTemplate(nil, forName: "all")
        #expect(model.fetchRequestTemplatesByName.isEmpty)
    }
}

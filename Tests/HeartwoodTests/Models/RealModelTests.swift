import Foundation
import Testing

@testable import Heartwood

/// Every model file of the shared collection agrees with a plain scan of its XML: entity by entity, property by property.
@Suite struct RealModelTests {
    static let files: [String] = {
        let all = FileManager.default.enumerator(atPath: ModelTests.shared.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".xcdatamodel/contents") }.sorted()
    }()

    @Test("Real models load with exactly their stated content", .enabled(if: !files.isEmpty, "../shared/models is absent"))
    func realModelsLoadWithExactlyWhatTheyState() throws {
        for path in Self.files {
            let url = ModelTests.shared.appendingPathComponent(path)
            let scan = XMLScan(try String(contentsOf: url, encoding: .utf8))
            let model = try NSManagedObjectModel.load(contentsOf: url.deletingLastPathComponent())
            #expect(model.entities.compactMap(\.name) == scan.of("entity").compactMap { $0.attributes["name"] }, "\(path)")
            for tag in scan.of("entity") {
                let entity = try #require(model.entitiesByName[tag.attributes["name"] ?? ""])
                Self.compare(entity, tag, scan, path)
            }
            let archived = try model.archivedBytes()
            let again = try archived.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }
            #expect(again.versionChecksum == model.versionChecksum, "\(path)")
            #expect(ModelDocument(again) == ModelDocument(model), "\(path)")
        }
        #expect(Self.files.count >= 25)
    }

    private static func compare(_ entity: NSEntityDescription, _ tag: XMLScan.Tag, _ scan: XMLScan, _ path: String) {
        let name = entity.name ?? "", place = Comment(rawValue: "\(path) \(name)")
        #expect(entity.isAbstract == (tag.attributes["isAbstract"] == "YES"), place)
        #expect(entity.superentity?.name == tag.attributes["parentEntity"], place)
        #expect(entity.managedObjectClassName == tag.attributes["representedClassName"] ?? "NSManagedObject", place)
        #expect(entity.renamingIdentifier == tag.attributes["elementID"] ?? name && entity.versionHashModifier == tag.attributes["versionHashModifier"], place)
        let own = entity.declaredProperties
        let attributes = own.compactMap { $0 as? NSAttributeDescription }, relationships = own.compactMap { $0 as? NSRelationshipDescription }
        let statedAttributes = scan.of("attribute", in: name), statedRelationships = scan.of("relationship", in: name)
        #expect(attributes.count == statedAttributes.count && relationships.count == statedRelationships.count, place)
        #expect(own.count == attributes.count + relationships.count + scan.of("fetchedProperty", in: name).count, place)
        for (attribute, stated) in zip(attributes, statedAttributes) { compare(attribute, stated.attributes, scan, place) }
        for (relationship, stated) in zip(relationships, statedRelationships) { compare(relationship, stated.attributes, place) }
        let constraints = scan.of("uniquenessConstraint", in: name).count
        #expect(entity.uniquenessConstraints.count == constraints, place)
        #expect(entity.uniquenessConstraints.joined().count == scan.of("constraint", in: name).count, place)
        let indexed = statedAttributes.filter { $0.attributes["indexed"] == "YES" }.count
        let elements = scan.of("fetchIndexElement", in: name).count + scan.of("index", in: name).count + indexed
        #expect(entity.indexes.count == scan.of("fetchIndex", in: name).count + scan.of("compoundIndex", in: name).count + indexed, place)
        #expect(entity.indexes.map(\.elements.count).reduce(0, +) == elements, place)
        let descending = scan.of("fetchIndexElement", in: name).filter { $0.attributes["order"] == "descending" }.count
        #expect(entity.indexes.flatMap(\.elements).filter { !$0.isAscending }.count == descending, place)
    }

    private static func compare(_ attribute: NSAttributeDescription, _ stated: [String: String], _ scan: XMLScan, _ place: Comment) {
        #expect(attribute.name == stated["name"] && attribute.attributeType.modelFileName == stated["attributeType"] ?? "Undefined", place)
        #expect(attribute.isOptional == (stated["optional"] == "YES") && attribute.isTransient == (stated["transient"] == "YES"), place)
        #expect(attribute.renamingIdentifier == stated["elementID"] ?? attribute.name && attribute.versionHashModifier == stated["versionHashModifier"], place)
        #expect(attribute.valueTransformerName == stated["valueTransformerName"], place)
        #expect(attribute.allowsExternalBinaryDataStorage == (stated["allowsExternalBinaryDataStorage"] == "YES"), place)
        #expect(attribute.preservesValueInHistoryOnDeletion == (stated["preserveAfterDeletion"] == "YES"), place)
        let limits = ["minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString"]
        #expect(attribute.validationPredicates.count == limits.filter { stated[$0] != nil }.count, place)
        if let text = stated["defaultValueString"] {
            switch attribute.defaultValue {
            case let string as String: #expect(string == text, place)
            case let flag as NSNumber where text == "YES" || text == "NO": #expect(flag.boolValue == (text == "YES"), place)
            case let number as NSNumber: #expect(number.doubleValue == Double(text), place)
            default: Issue.record("\(attribute.name) has no default, and states \(text)")
            }
        } else {
            #expect((attribute.defaultValue == nil) == (stated["defaultDateTimeInterval"] == nil), place)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            let elements = scan.of("attribute", in: stated["composite"])
            #expect(composite.elements.map(\.name) == elements.compactMap { $0.attributes["name"] } && !elements.isEmpty, place)
        }
    }

    private static func compare(_ relationship: NSRelationshipDescription, _ stated: [String: String], _ place: Comment) {
        #expect(relationship.name == stated["name"] && relationship.destinationEntity?.name == stated["destinationEntity"], place)
        #expect(relationship.inverseRelationship?.name == stated["inverseName"], place)
        #expect(relationship.isToMany == (stated["maxCount"] != "1") && relationship.isOrdered == (stated["ordered"] == "YES"), place)
        #expect(relationship.minCount == Int(stated["minCount"] ?? "0") && relationship.maxCount == Int(stated["maxCount"] ?? "0"), place)
        #expect(relationship.isOptional == (stated["optional"] == "YES"), place)
        let rules: [NSDeleteRule: String] = [
            .nullifyDeleteRule: "Nullify", .cascadeDeleteRule: "Cascade", .denyDeleteRule: "Deny", .noActionDeleteRule: "No Action",
        ]
        #expect(rules[relationship.deleteRule] == stated["deletionRule"], place)
    }
}

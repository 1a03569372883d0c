import Foundation
import Testing

@testable import Heartwood

/// Every model file of the shared collection agrees with a plain scan of its XML: entity by entity, property by property.
@Suite struct RealModelTests {
    static let files: [String] = {
        let all = FileManager.default.enumerator(atPath: ModelTests.shared.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".xcdatamodel/contents") }.sorted()
    }()

    @Test(.enabled(if: !files.isEmpty, "../shared/models is absent"))
    func `Real models load with exactly their stated content`() throws {
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
        let name = entity.name ?? "", comment = Comment(rawValue: "\(path) \(name)")
        #expect(entity.isAbstract == (tag.attributes["isAbstract"] == "YES"), comment)
        #expect(entity.superentity?.name == tag.attributes["parentEntity"], comment)
        #expect(entity.managedObjectClassName == tag.attributes["representedClassName"] ?? "NSManagedObject", comment)
        #expect(
            entity.renamingIdentifier == tag.attributes["elementID"] ?? name && entity.versionHashModifier == tag.attributes["versionHashModifier"],
            comment)
        let own = entity.declaredProperties
        let attributes = own.compactMap { $0 as? NSAttributeDescription }, relationships = own.compactMap { $0 as? NSRelationshipDescription }
        let declaredAttributes = scan.of("attribute", in: name), declaredRelationships = scan.of("relationship", in: name)
        #expect(attributes.count == declaredAttributes.count && relationships.count == declaredRelationships.count, comment)
        #expect(own.count == attributes.count + relationships.count + scan.of("fetchedProperty", in: name).count, comment)
        for (attribute, declared) in zip(attributes, declaredAttributes) { compare(attribute, declared.attributes, scan, comment) }
        for (relationship, declared) in zip(relationships, declaredRelationships) { compare(relationship, declared.attributes, comment) }
        let constraints = scan.of("uniquenessConstraint", in: name).count
        #expect(entity.uniquenessConstraints.count == constraints, comment)
        #expect(entity.uniquenessConstraints.joined().count == scan.of("constraint", in: name).count, comment)
        let indexed = declaredAttributes.filter { $0.attributes["indexed"] == "YES" }.count
        let elements = scan.of("fetchIndexElement", in: name).count + scan.of("index", in: name).count + indexed
        #expect(entity.indexes.count == scan.of("fetchIndex", in: name).count + scan.of("compoundIndex", in: name).count + indexed, comment)
        #expect(entity.indexes.map(\.elements.count).reduce(0, +) == elements, comment)
        let descending = scan.of("fetchIndexElement", in: name).filter { $0.attributes["order"] == "descending" }.count
        #expect(entity.indexes.flatMap(\.elements).filter { !$0.isAscending }.count == descending, comment)
    }

    private static func compare(_ attribute: NSAttributeDescription, _ declared: [String: String], _ scan: XMLScan, _ comment: Comment) {
        #expect(attribute.name == declared["name"] && attribute.attributeType.modelFileName == declared["attributeType"] ?? "Undefined", comment)
        #expect(attribute.isOptional == (declared["optional"] == "YES") && attribute.isTransient == (declared["transient"] == "YES"), comment)
        #expect(
            attribute.renamingIdentifier == declared["elementID"] ?? attribute.name
                && attribute.versionHashModifier == declared["versionHashModifier"], comment)
        #expect(attribute.valueTransformerName == declared["valueTransformerName"], comment)
        #expect(attribute.allowsExternalBinaryDataStorage == (declared["allowsExternalBinaryDataStorage"] == "YES"), comment)
        #expect(attribute.preservesValueInHistoryOnDeletion == (declared["preserveAfterDeletion"] == "YES"), comment)
        let limits = ["minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString"]
        #expect(attribute.validationPredicates.count == limits.filter { declared[$0] != nil }.count, comment)
        if let text = declared["defaultValueString"] {
            switch attribute.defaultValue {
            case let string as String: #expect(string == text, comment)
            case let flag as NSNumber where text == "YES" || text == "NO": #expect(flag.boolValue == (text == "YES"), comment)
            case let number as NSNumber: #expect(number.doubleValue == Double(text), comment)
            default: Issue.record("\(attribute.name) has no default, and states \(text)")
            }
        } else {
            #expect((attribute.defaultValue == nil) == (declared["defaultDateTimeInterval"] == nil), comment)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            let elements = scan.of("attribute", in: declared["composite"])
            #expect(composite.elements.map(\.name) == elements.compactMap { $0.attributes["name"] } && !elements.isEmpty, comment)
        }
    }

    private static func compare(_ relationship: NSRelationshipDescription, _ declared: [String: String], _ comment: Comment) {
        #expect(relationship.name == declared["name"] && relationship.destinationEntity?.name == declared["destinationEntity"], comment)
        #expect(relationship.inverseRelationship?.name == declared["inverseName"], comment)
        #expect(relationship.isToMany == (declared["maxCount"] != "1") && relationship.isOrdered == (declared["ordered"] == "YES"), comment)
        #expect(relationship.minCount == Int(declared["minCount"] ?? "0") && relationship.maxCount == Int(declared["maxCount"] ?? "0"), comment)
        #expect(relationship.isOptional == (declared["optional"] == "YES"), comment)
        let rules: [NSDeleteRule: String] = [
            .nullifyDeleteRule: "Nullify", .cascadeDeleteRule: "Cascade", .denyDeleteRule: "Deny", .noActionDeleteRule: "No Action",
        ]
        #expect(rules[relationship.deleteRule] == declared["deletionRule"], comment)
    }
}

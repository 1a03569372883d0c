import Foundation
import Testing

@testable import Heartwood

/// An object with validation methods beside the model's rules.
final class Checked: NSManagedObject {
    struct Refusal: Error, Equatable {
        let what: String
    }

    var asked: [String] = []
    /// By key: the values that validation substitutes before the model's rules are checked.
    var substitutes: [String: AnyObject] = [:]
    var refusesInsert = false, refusesUpdate = false, refusesDelete = false

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        if let substitute = substitutes[key] { value.pointee = substitute }
        try super.validateValue(value, forKey: key)
        asked.append(key)
        if key == "name" { try validateName(value) }
    }

    /// Core Data finds this method by its name.
    func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let name = value.pointee as? String else { return }
        if name == "bad" { throw Refusal(what: name) }
        if name.hasPrefix(" ") { value.pointee = NSString(string: name.trimmingCharacters(in: .whitespaces)) }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        if refusesInsert { throw Refusal(what: "insert") }
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if refusesUpdate { throw Refusal(what: "update") }
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        if refusesDelete { throw Refusal(what: "delete") }
    }
}

enum CheckedModel {
    /// "Limits" has one attribute for each kind of limit, "Team" a relationship to "Member" for each kind of count, and "Checked" a class.
    static let xml = """
        <entity name="Limits">
          <attribute name="small" optional="YES" attributeType="Integer 16" minValueString="1" maxValueString="9"/>
          <attribute name="big" optional="YES" attributeType="Integer 64" minValueString="-5"/>
          <attribute name="double" optional="YES" attributeType="Double" minValueString="0.5" maxValueString="1.5"/>
          <attribute name="float" optional="YES" attributeType="Float" maxValueString="2"/>
          <attribute name="decimal" optional="YES" attributeType="Decimal" minValueString="0.1" maxValueString="10"/>
          <attribute name="date" optional="YES" attributeType="Date" minDateTimeInterval="100" maxDateTimeInterval="200"/>
          <attribute name="text" optional="YES" attributeType="String" minValueString="2" maxValueString="4"/>
          <attribute name="code" optional="YES" attributeType="String" regularExpressionString="[A-Z]{2}[0-9]+"/>
        </entity>
        <entity name="Team">
          <attribute name="name" attributeType="String" defaultValueString="A"/>
          <relationship name="some" toMany="YES" deletionRule="Nullify" destinationEntity="Member" inverseName="someOf" inverseEntity="Member"/>
          <relationship name="few" optional="YES" toMany="YES" minCount="2" maxCount="3" deletionRule="Deny" destinationEntity="Member" inverseName="fewOf" inverseEntity="Member"/>
          <relationship name="pair" optional="YES" toMany="YES" minCount="1" maxCount="2" deletionRule="Nullify" destinationEntity="Member"/>
        </entity>
        <entity name="Member">
          <relationship name="someOf" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Team" inverseName="some" inverseEntity="Team"/>
          <relationship name="fewOf" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Team" inverseName="few" inverseEntity="Team"/>
          <relationship name="leader" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Member" inverseName="led" inverseEntity="Member"/>
          <relationship name="led" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Member" inverseName="leader" inverseEntity="Member"/>
        </entity>
        <entity name="Checked" representedClassName="Checked">
          <attribute name="name" attributeType="String" maxValueString="10"/>
          <attribute name="age" optional="YES" attributeType="Integer 32" minValueString="0"/>
          <relationship name="team" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Team"/>
        </entity>
        """

    static func load(_ entities: String = xml) throws -> NSManagedObjectModel {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: url) }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try "<?xml version=\"1.0\"?>\n<model>\n\(entities)\n</model>".write(
            to: url.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let model = try NSManagedObjectModel.load(contentsOf: url)
        model.entitiesByName["Checked"]?.managedObjectClassName = NSStringFromClass(Checked.self)
        return model
    }
}

extension TestStack {
    /// The errors of a save, each failure separately. Empty if it saves.
    func failures(in context: NSManagedObjectContext? = nil) -> [NSError] {
        do {
            try (context ?? self.context).save()
            return []
        } catch {
            let error = error as NSError
            return error.code == NSValidationMultipleErrorsError ? error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [] : [error]
        }
    }

    /// The errors as "code key".
    func failed(in context: NSManagedObjectContext? = nil) -> [String] {
        failures(in: context).map { "\($0.code) \($0.userInfo[NSValidationKeyErrorKey] as? String ?? "?")" }
    }
}

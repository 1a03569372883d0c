import Foundation
import HeartwoodTestSupport

@testable import Heartwood

extension NSManagedObjectModel {
    /// The same model with more attributes in every entity without a parent: mostly texts, which a row stores next to each other.
    func widened() -> NSManagedObjectModel {
        for entity in entities where entity.superentity == nil {
            entity.properties += [
                TestStack.attribute("note", .stringAttributeType), TestStack.attribute("level", .doubleAttributeType),
                TestStack.attribute("motto", .stringAttributeType), TestStack.attribute("blob", .binaryDataAttributeType),
                TestStack.attribute("isOpen", .booleanAttributeType), TestStack.attribute("end", .stringAttributeType),
            ]
        }
        return self
    }
}

extension ValueDomain {
    /// A value for an attribute of a type, in an object's form; nil for null, and for a type without random values.
    func draw(attribute type: NSAttributeType, from old: Any? = nil, _ random: inout SeededGenerator) -> Any? {
        switch State.draw(&random) {
        case .nothing: nil
        case .same: old
        case let state: draw(attribute: type, state, &random)
        }
    }

    /// A value that is not null.
    func something(attribute type: NSAttributeType, _ random: inout SeededGenerator) -> Any? {
        draw(attribute: type, [.empty, .short, .long, .extreme].randomElement(using: &random) ?? .short, &random)
    }

    private func draw(attribute type: NSAttributeType, _ state: State, _ random: inout SeededGenerator) -> Any? {
        let kind: Kind
        switch type {
        case .booleanAttributeType: kind = .flag
        case .integer16AttributeType: kind = .integer(bits: 16)
        case .integer32AttributeType: kind = .integer(bits: 32)
        case .integer64AttributeType, .decimalAttributeType: kind = .integer(bits: 64)
        case .doubleAttributeType, .floatAttributeType, .dateAttributeType: kind = .double
        case .UUIDAttributeType: kind = .uuid
        case .stringAttributeType: kind = .text
        case .binaryDataAttributeType: kind = .bytes
        case .URIAttributeType: return URL(string: "https://example.org/\(random.next() % 50)")
        default: return nil
        }
        let value = draw(kind, state, &random)
        switch (value, type) {
        case (.flag(let flag), _): return flag
        case (.integer(let number), .decimalAttributeType): return NSDecimalNumber(decimal: Decimal(number) / 4)
        case (.integer(let number), _): return Int(number)
        case (.double(let bits), .dateAttributeType): return Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        case (.double(let bits), .floatAttributeType): return Float(Double(bitPattern: bits))
        case (.double(let bits), _): return Double(bitPattern: bits)
        case (.uuid(let high, let low), _): return UUID(storedBytes: (high, low))
        case (.text(let text), _): return text
        case (.bytes(let bytes), _): return Data(bytes)
        }
    }
}

extension NSManagedObject {
    /// Sets some attributes at once, each to a value of the whole domain or to null. Unique, derived and transient ones stay.
    /// - Parameter kept: others that stay.
    /// - Returns: the new values as text, by name.
    @discardableResult
    func drawValues(keeping kept: Set<String> = [], _ random: inout SeededGenerator) -> [String: String] {
        let unique = Set(entity.uniquenessConstraints.flatMap { $0 }.map { ($0 as? NSPropertyDescription)?.name ?? $0 as? String ?? "" })
        let domain = Int.random(in: 0..<30, using: &random) == 0 ? ValueDomain.long : .short
        var drawn: [String: String] = [:]
        for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            guard !kept.contains(name), !unique.contains(name), !attribute.isTransient, !(attribute is NSDerivedAttributeDescription)
            else { continue }
            guard Int.random(in: 0..<3, using: &random) > 0 else { continue }
            var value = domain.draw(attribute: attribute.attributeType, from: self.value(forKey: name), &random)
            if value == nil, !attribute.isOptional { value = domain.something(attribute: attribute.attributeType, &random) }
            setValue(value, forKey: name)
            drawn[name] = ValueWords.of(value)
        }
        return drawn
    }

    /// The values of the attributes of `widened()` as text.
    var moreValues: [String: String] {
        var result: [String: String] = [:]
        for name in ["note", "level", "motto", "blob", "isOpen", "end"] { result[name] = ValueWords.of(value(forKey: name)) }
        return result
    }

    /// Changes only the attributes of `widened()`.
    /// - Returns: the same as `drawValues`.
    @discardableResult
    func drawMoreValues(_ random: inout SeededGenerator) -> [String: String] {
        let more: Set = ["note", "level", "motto", "blob", "isOpen", "end"]
        return drawValues(keeping: Set(entity.attributesByName.keys).subtracting(more), &random)
    }
}

/// A value as text: different values have different texts, and long ones stay short.
enum ValueWords {
    static func of(_ value: Any?) -> String {
        // An object has a number instead.
        if let value, type(of: value) == Bool.self { return value as? Bool == true ? "1" : "0" }
        return switch value {
        case let text as String: of(text)
        case let data as Data: "\(data.count) bytes from \(data.first ?? 0) to \(data.last ?? 0), \(data.hashValue)"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate) s"
        case let value?: "\(value)"
        case nil: "-"
        }
    }

    private static func of(_ text: String) -> String {
        text.utf8.count <= 60 ? "'\(text)'" : "'\(text.prefix(9))…' of \(text.utf8.count), \(text.hashValue)"
    }
}

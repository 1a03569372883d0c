import Foundation
import RecordLog

/// A derived attribute's derivation, ready for use.
package struct Derivation: @unchecked Sendable {
    // Unchecked: the descriptions belong to an immutable model.

    /// An attribute of the object itself, or of an object that it reaches through to-one relationships.
    package struct Source {
        let path: [NSRelationshipDescription]
        let attribute: NSAttributeDescription
        let kind: PropertyKind
        let raw: AttributeCodec.RawValue?

        init(path: [NSRelationshipDescription], attribute: NSAttributeDescription) {
            self.path = path
            self.attribute = attribute
            kind = PropertyKind(attribute)
            raw = kind.codec?.raw
        }
    }

    package enum Form {
        /// The time of the row's last write.
        case now
        case copy(Source)
        case function(PredicateFunction, Source)
        case count(NSRelationshipDescription)
        /// The sum of an attribute of the members.
        case sum(NSRelationshipDescription, Source)
    }

    package let attribute: NSDerivedAttributeDescription
    let kind: PropertyKind
    package let form: Form

    /// The attribute's index in the properties of each entity that has it.
    var property: Int { attribute.index }

    /// The attribute from which the value is computed; nil for the time and for counts.
    var source: NSAttributeDescription? {
        switch form {
        case .now, .count: nil
        case .copy(let source), .function(_, let source), .sum(_, let source): source.attribute
        }
    }

    /// Whether the source is an attribute of other rows.
    var isOverRows: Bool {
        switch form {
        case .now, .count: false
        case .copy(let source), .function(_, let source): !source.path.isEmpty
        case .sum: true
        }
    }

    /// The relationship whose members are counted or summed.
    var members: NSRelationshipDescription? {
        switch form {
        case .count(let relationship), .sum(let relationship, _): relationship
        default: nil
        }
    }

    /// Converts a value to the attribute's type.
    /// - Throws: 1610 where the type cannot represent it.
    func stored(_ value: ManagedValue, of source: PropertyKind) throws -> ManagedValue {
        if source == kind || value.isNull { return value }
        return try stored(value.attributeObject(kind: source))
    }

    /// Converts a computed number.
    func stored(_ number: PredicateNumber?) throws -> ManagedValue { try stored(number?.value.object) }

    private func stored(_ object: Any?) throws -> ManagedValue {
        if let value = ManagedValue(attributeObject: object, kind: kind) { return value }
        throw CoreDataError.make(
            NSValidationNumberTooLargeError,
            "Nothing was saved: \(attribute.holder?.name ?? "?").\(attribute.name) is derived, and its value "
                + "\(object.map { "\($0)" } ?? "nil") does not fit a number of type \(attribute.attributeType.modelFileName); give the "
                + "attribute a wider type.",
            [NSValidationKeyErrorKey: attribute.name])
    }
}

extension PropertyKind {
    /// Whether a derived attribute of the kind `derived` can store all values of this kind, except numbers that are too large.
    func suits(_ derived: PropertyKind) -> Bool {
        guard isComparableInRow else { return false }
        return switch (codec?.number, derived.codec?.number) {
        case (.flag, .whole), (.whole, .whole), (.whole, .fraction), (.fraction, .fraction): true
        case (.whole, _), (.fraction, _): false
        default: self == derived
        }
    }
}

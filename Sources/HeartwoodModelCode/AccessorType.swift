internal import HeartwoodFileReading

/// The Swift type of a managed object's property, with the code of its accessors.
struct AccessorType {
    /// The kind of value that the store has for the property.
    enum Storage {
        case integer, boolean, floating, string, date, object, toOne, toMany, toManyOrdered

        init(attribute type: String?) {
            self = switch type.flatMap(ModelAttributeType.named)?.codeType {
            case "Int16", "Int32", "Int64": .integer
            case "Bool": .boolean
            case "Double", "Float": .floating
            case "String": .string
            case "Date": .date
            default: .object
            }
        }

        init(_ relationship: CodeModel.Relationship) {
            self = !relationship.isToMany ? .toOne : relationship.isOrdered ? .toManyOrdered : .toMany
        }
    }

    let storage: Storage
    /// The type in code, without the question mark.
    let base: String
    let isOptional: Bool

    init(_ storage: Storage, _ text: String) {
        self.storage = storage
        isOptional = text.hasSuffix("?")
        base = isOptional ? String(text.dropLast()) : text
    }

    var text: String { base + (isOptional ? "?" : "") }

    /// Returns the expression that reads the property at an index; nil where the type does not suit the storage.
    /// - Parameter index: an expression without side effects.
    func getter(_ index: String) -> String? {
        switch (storage, base) {
        case (.integer, "Int64") where !isOptional: "managedInteger(at: \(index)) ?? 0"
        case (.integer, "Int16"), (.integer, "Int32"), (.integer, "Int"):
            isOptional ? nil : "\(base)(truncatingIfNeeded: managedInteger(at: \(index)) ?? 0)"
        case (.boolean, "Bool") where !isOptional: "managedBool(at: \(index)) ?? false"
        case (.floating, "Double") where !isOptional: "managedDouble(at: \(index)) ?? 0"
        case (.floating, "Float") where !isOptional: "Float(managedDouble(at: \(index)) ?? 0)"
        case (.string, "String"): isOptional ? "managedString(at: \(index))" : "managedString(at: \(index)) ?? \"\""
        case (.date, "Date"): required("managedDate(at: \(index))", index)
        case (.toOne, _): collectionBases.contains(base) ? nil : required("uncheckedDestination(at: \(index))", index)
        case (.toMany, "NSSet"), (.toManyOrdered, "NSSet"): "NSSet(array: managedObjects(at: \(index)))"
        case (.toMany, "NSOrderedSet"), (.toManyOrdered, "NSOrderedSet"): "NSOrderedSet(array: managedObjects(at: \(index)))"
        case (.toMany, _), (.toManyOrdered, _):
            element("Set<", ">").map { _ in "uncheckedDestinations(at: \(index))" }
        case (_, let base) where scalars.contains(base): nil
        case (.string, "Data"), (.string, "Date"), (.string, "NSNumber"), (.date, "String"), (.integer, "String"): nil
        default: required("managedAttribute(at: \(index)) as? \(base)", index)
        }
    }

    /// Returns the statement that writes `newValue`; nil where the type does not suit the storage.
    func setter(_ index: String) -> String? {
        guard getter(index) != nil else { return nil }
        switch (storage, base) {
        case (.integer, "Int64"): return "setManagedInteger(newValue, at: \(index))"
        case (.integer, "Int16"), (.integer, "Int32"), (.integer, "Int"): return "setManagedInteger(Int64(newValue), at: \(index))"
        case (.boolean, "Bool"): return "setManagedInteger(newValue ? 1 : 0, at: \(index))"
        case (.floating, "Double"): return "setManagedDouble(newValue, at: \(index))"
        case (.floating, "Float"): return "setManagedDouble(Double(newValue), at: \(index))"
        case (.string, "String"): return "setManagedString(newValue, at: \(index))"
        case (.date, "Date"): return "setManagedDate(newValue, at: \(index))"
        case (.toOne, _): return "setManagedObject(newValue, at: \(index))"
        case (.toMany, "NSSet"), (.toManyOrdered, "NSSet"), (.toMany, "NSOrderedSet"), (.toManyOrdered, "NSOrderedSet"):
            let list = base == "NSSet" ? "allObjects" : "array"
            return isOptional
                ? "setManagedObjects(newValue?.\(list) as? [NSManagedObject] ?? [], at: \(index))"
                : "setManagedObjects(newValue.\(list) as? [NSManagedObject] ?? [], at: \(index))"
        case (.toMany, _), (.toManyOrdered, _): return "setManagedObjects(Array(newValue\(isOptional ? " ?? []" : "")), at: \(index))"
        default: return "setManagedAttribute(newValue, at: \(index))"
        }
    }

    /// Explains a difference from the type that Xcode generates for a to-many relationship; nil where there is none.
    var mismatch: String? {
        switch (storage, base) {
        case (.toMany, "NSOrderedSet"): "the model says that the relationship has no order, and the type is NSOrderedSet."
        case (.toManyOrdered, let base) where base != "NSOrderedSet":
            "the model says that the relationship is ordered, and the type is \(base): its order is lost."
        default: nil
        }
    }

    private var scalars: Set<String> { ["Int16", "Int32", "Int64", "Int", "Bool", "Double", "Float"] }
    private var collectionBases: Set<String> { ["NSSet", "NSOrderedSet", "String", "Date", "Data", "UUID", "URL", "NSNumber"] }

    private func required(_ expression: String, _ index: String) -> String {
        isOptional ? expression : "requiredValue(\(expression), at: \(index))"
    }

    private func element(_ prefix: String, _ suffix: String) -> String? {
        guard base.hasPrefix(prefix), base.hasSuffix(suffix) else { return nil }
        return String(base.dropFirst(prefix.count).dropLast(suffix.count))
    }
}

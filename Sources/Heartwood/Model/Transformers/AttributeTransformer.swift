import Foundation

extension NSAttributeDescription {
    /// Makes the bytes in which the built-in stores keep a transformable attribute's value. A store of your own can do the same with it. The
    /// attribute's value transformer makes them, or a secure archive. nil: the transformer returned nil, and no value is saved.
    /// - Throws: 1550 if the transformer is not registered or the value cannot be archived.
    /// - Precondition: the attribute is transformable, or has no type.
    public final func transformedData(for value: Any) throws -> Data? {
        demand(PropertyKind(self) == .transformable, "\(name) is not transformable.")
        return try AttributeTransformer.data(AttributeCoding.bridged(value), of: self)
    }

    /// Turns the bytes of `transformedData(for:)` back into the value. Returns nil if the transformer is not registered or returns nil.
    public final func value(fromTransformedData data: Data) -> Any? { AttributeTransformer.object(data, of: self) }
}

/// Converts a transformable attribute's value to the bytes in a store and back, by the attribute's value transformer or by an archive.
///
/// As on Apple's platforms a transformer turns a value into `Data` and reverses that. Those that unarchive
/// (`NSSecureUnarchiveFromDataTransformer` and its subclasses) are used in the opposite direction.
enum AttributeTransformer {
    /// Foundation's own names, and the names of the constants that hold them, which models have by mistake. Like an absent name they mean a secure
    /// archive.
    private static let archives = Set(
        ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"].flatMap { [$0, $0 + "TransformerName"] })

    private static func transformerName(_ attribute: NSAttributeDescription) -> String? {
        guard let name = attribute.valueTransformerName, !name.isEmpty, !archives.contains(name) else { return nil }
        return name
    }

    static func isArchived(_ attribute: NSAttributeDescription) -> Bool { transformerName(attribute) == nil }

    /// The class that the model states for the attribute's values, if it can be archived.
    private static func ownClasses(_ attribute: NSAttributeDescription) -> [AnyClass] {
        guard let name = attribute.declaredValueClassName, let found = NSClassFromString(name), found is any NSSecureCoding.Type
        else { return [] }
        return [found]
    }

    /// - Returns: nil if the attribute's own transformer returns nil; the store then keeps no value.
    /// - Throws: 1550 if the transformer is not registered, or the value cannot be transformed or archived.
    static func data(_ value: AnyObject, of property: NSPropertyDescription, _ object: (any EntityObject)? = nil) throws -> Data? {
        guard let attribute = property as? NSAttributeDescription else { preconditionFailure("only attributes are transformed") }
        guard let name = transformerName(attribute) else {
            do {
                return try ObjectArchive.data(value, allowing: ownClasses(attribute))
            } catch {
                throw failure(attribute, value, object, "it cannot be archived: \(error). Name a value transformer for the attribute")
            }
        }
        guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else {
            throw failure(
                attribute, value, object, "there is no value transformer \"\(name)\": none is registered, and no class of that name without stored "
                    + "properties is found. Call ValueTransformer.setValueTransformer(_:forName:) before the first save")
        }
        let archives = transformer is NSSecureUnarchiveFromDataTransformer
        let made = archives ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let made else {
            // A value of a class that an unarchiving transformer does not allow would be lost, so the save fails.
            guard archives else { return nil }
            throw failure(attribute, value, object, "its value transformer \"\(name)\" does not allow a \(type(of: value))")
        }
        guard let data = made as? Data else {
            throw failure(
                attribute, value, object, "its value transformer \"\(name)\" made \(type(of: made)) of a \(type(of: value)), and no Data")
        }
        return data
    }

    /// The value; nil if the transformer is not registered or returns nil.
    static func object(_ data: Data, of property: NSPropertyDescription) -> Any? {
        guard let attribute = property as? NSAttributeDescription else { return nil }
        guard let name = transformerName(attribute) else { return ObjectArchive.object(data, allowing: ownClasses(attribute)) }
        guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else { return nil }
        return transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    }

    private static func failure(
        _ attribute: NSAttributeDescription, _ value: AnyObject, _ object: (any EntityObject)?, _ reason: String
    ) -> NSError {
        var info: [String: Any] = [NSValidationKeyErrorKey: attribute.name, NSValidationValueErrorKey: ValueText.described(value)]
        info[NSValidationObjectErrorKey] = object
        return CoreDataError.make(
            NSManagedObjectValidationError,
            "Nothing was saved: \(attribute.holder?.name ?? "?").\(attribute.name) is transformable, and \(reason).", info)
    }
}

import Foundation

extension NSAttributeDescription {
    /// The bytes that the built-in stores keep of a transformable attribute's value, for stores of your own: what the attribute's value
    /// transformer makes of it, or a secure archive; nil where the transformer makes nothing of it, which is saved as no value.
    /// - Throws: 1550 where there is no such transformer, or the value cannot be archived.
    /// - Precondition: the attribute is transformable, or has no type.
    public final func transformedData(for value: Any) throws -> Data? {
        precondition(PropertyKind(self) == .transformable, "\(name) is not transformable.")
        return try AttributeTransformer.data(AttributeCoding.bridged(value), of: self)
    }

    /// The value that `transformedData(for:)` was given; nil where no such transformer is registered, or it makes nothing of the bytes.
    public final func value(fromTransformedData data: Data) -> Any? { AttributeTransformer.object(data, of: self) }
}

/// Between a transformable attribute's value and the bytes that a store keeps of it: the attribute's value transformer, or an archive.
///
/// As on Apple's platforms a transformer makes `Data` of a value and the value of the `Data` again, but for those that unarchive
/// (`NSSecureUnarchiveFromDataTransformer` and its subclasses), which are used the other way round.
enum AttributeTransformer {
    /// The names of Foundation's own, and no name: a secure archive.
    private static let archives: Set<String> = ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"]

    private static func transformerName(_ attribute: NSAttributeDescription) -> String? {
        guard let name = attribute.valueTransformerName, !name.isEmpty, !archives.contains(name) else { return nil }
        return name
    }

    static func isArchived(_ attribute: NSAttributeDescription) -> Bool { transformerName(attribute) == nil }

    /// The class that the model says the attribute's values have, where it can be archived.
    private static func ownClasses(_ attribute: NSAttributeDescription) -> [AnyClass] {
        guard let name = attribute.statedValueClassName, let found = NSClassFromString(name), found is any NSSecureCoding.Type
        else { return [] }
        return [found]
    }

    /// - Returns: nil where the attribute's own transformer makes nothing of the value: the store keeps none.
    /// - Throws: 1550 where there is no such transformer, or the value cannot be transformed or archived.
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
            // What such a one does not allow would be lost.
            guard archives else { return nil }
            throw failure(attribute, value, object, "its value transformer \"\(name)\" does not allow a \(type(of: value))")
        }
        guard let data = made as? Data else {
            throw failure(
                attribute, value, object, "its value transformer \"\(name)\" made \(type(of: made)) of a \(type(of: value)), and no Data")
        }
        return data
    }

    /// The value; nil where there is no such transformer, or it makes nothing of the bytes.
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

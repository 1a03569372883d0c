/// A type of attribute as models state it and as generated code has it. Readers of models, the writer of code and the stack share it.
package struct ModelAttributeType: Sendable {
    /// The raw value of Core Data's `NSAttributeType`.
    package let number: UInt
    /// The name in model files and model editors.
    package let name: String
    /// The type in generated code; nil for the class that the model states.
    package let codeType: String?
    /// Whether generated code may have the type without an object around the number.
    package let isScalar: Bool
    /// The class of the objects that key-value coding gives; nil for the one that the model states.
    package let valueClass: String?

    private init(_ number: UInt, _ name: String, scalar: String) {
        (self.number, self.name, codeType, isScalar, valueClass) = (number, name, scalar, true, "NSNumber")
    }

    private init(_ number: UInt, _ name: String, object: String? = nil, class valueClass: String? = nil) {
        (self.number, self.name, codeType, isScalar, self.valueClass) = (number, name, object, false, valueClass)
    }

    package static let undefined = ModelAttributeType(0, "Undefined")
    package static let integer16 = ModelAttributeType(100, "Integer 16", scalar: "Int16")
    package static let integer32 = ModelAttributeType(200, "Integer 32", scalar: "Int32")
    package static let integer64 = ModelAttributeType(300, "Integer 64", scalar: "Int64")
    package static let decimal = ModelAttributeType(400, "Decimal", object: "NSDecimalNumber", class: "NSDecimalNumber")
    package static let double = ModelAttributeType(500, "Double", scalar: "Double")
    package static let float = ModelAttributeType(600, "Float", scalar: "Float")
    package static let string = ModelAttributeType(700, "String", object: "String", class: "NSString")
    package static let boolean = ModelAttributeType(800, "Boolean", scalar: "Bool")
    package static let date = ModelAttributeType(900, "Date", object: "Date", class: "NSDate")
    package static let binary = ModelAttributeType(1000, "Binary", object: "Data", class: "NSData")
    package static let uuid = ModelAttributeType(1100, "UUID", object: "UUID", class: "NSUUID")
    package static let uri = ModelAttributeType(1200, "URI", object: "URL", class: "NSURL")
    package static let transformable = ModelAttributeType(1800, "Transformable")
    package static let objectID = ModelAttributeType(2000, "ObjectID", object: "NSManagedObjectID", class: "NSManagedObjectID")
    package static let composite = ModelAttributeType(2100, "Composite", object: "[String: Any]", class: "NSDictionary")

    package static let all = [
        undefined, integer16, integer32, integer64, decimal, double, float, string, boolean, date, binary, uuid, uri, transformable, objectID,
        composite,
    ]

    package static func named(_ name: String) -> ModelAttributeType? { all.first { $0.name == name } }
    package static func numbered(_ number: Int64) -> ModelAttributeType? { all.first { $0.number == number } }
}

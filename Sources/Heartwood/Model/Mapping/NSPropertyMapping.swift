import Foundation

/// A rule that gives one property of a destination entity its value.
/// Source: https://developer.apple.com/documentation/coredata/nspropertymapping
open class NSPropertyMapping: NSObject {
    /// The name of the destination's property.
    open var name: String?
    /// Gives the value. It may use the variables named by `NSMigrationManagerKey` and the constants beside it. nil: the property keeps its default.
    open var valueExpression: NSExpression? {
        didSet { inference = nil }
    }
    /// Free for the mapping's policy.
    open var userInfo: [AnyHashable: Any]?
    /// A short form of the value expression, which migration runs without evaluating the expression; nil if the expression was set from outside.
    private(set) final var inference: Inference?

    /// A value that follows from the models.
    enum Inference {
        /// The value of a source's attribute.
        case attribute(String)
        /// The objects made from those of a source's relationship.
        case relationship(String)
    }

    public override init() {
        super.init()
    }

    convenience init(_ name: String, _ inference: Inference?) {
        self.init()
        self.name = name
        if let inference { infer(inference) }
    }

    /// Sets the value expression that follows from the models.
    final func infer(_ inference: Inference) {
        switch inference {
        case .attribute(let key): valueExpression = NSExpression(node: .path(.variable(NSMigrationSourceObjectKey), [key]))
        case .relationship(let key):
            valueExpression = NSExpression(node: .block(ExpressionBlock(.method(MigrationFunction.destinationsOfRelationship.rawValue)), [
                .variable(NSMigrationManagerKey), .constant(.text(key)), .path(.variable(NSMigrationSourceObjectKey), [key]),
            ]))
        }
        self.inference = inference
    }

    /// Whether both have equal names, expressions and user info.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return self === other || name == other.name && valueExpression == other.valueExpression
            && NSDictionary(dictionary: userInfo ?? [:]).isEqual(NSDictionary(dictionary: other.userInfo ?? [:]))
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }

    open override var description: String { "<NSPropertyMapping \(name ?? "?"): \(valueExpression.map { "\($0)" } ?? "its default")>" }
}

import Foundation

/// How one property of an entity of the destination gets its value.
/// Source: https://developer.apple.com/documentation/coredata/nspropertymapping
open class NSPropertyMapping: NSObject {
    /// The property of the destination.
    open var name: String?
    /// Gives the value. It may use the variables that `NSMigrationManagerKey` and its kin name. nil: the property keeps its default.
    open var valueExpression: NSExpression? {
        didSet { inference = nil }
    }
    /// Whatever the mapping's policy wants to know.
    open var userInfo: [AnyHashable: Any]?
    /// What the value expression says in words is done without evaluating it; nil where somebody has set one.
    private(set) final var inference: Inference?

    /// A value that follows from the models.
    enum Inference {
        /// The value of an attribute of the source.
        case attribute(String)
        /// The objects made of those of a relationship of the source.
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

    open override var description: String { "<NSPropertyMapping \(name ?? "?"): \(valueExpression.map { "\($0)" } ?? "its default")>" }
}

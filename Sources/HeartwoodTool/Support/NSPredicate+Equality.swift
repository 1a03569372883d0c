import Foundation
import Heartwood

extension NSComparisonPredicate {
    /// The objects whose attribute has a value.
    static func equality(_ attribute: String, _ value: Any?) -> NSComparisonPredicate {
        NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: attribute), rightExpression: NSExpression(forConstantValue: value), modifier: .direct,
            type: .equalTo)
    }
}

/// A collection of Swift's own. A cast to a class of Foundation's would bridge the whole collection for each class that is tried.
protocol PredicateValueList {
    var predicateValues: [PredicateValue] { get }
}

extension Array: PredicateValueList {
    var predicateValues: [PredicateValue] { PredicateValue.all(self) }
}

extension Set: PredicateValueList {
    var predicateValues: [PredicateValue] { PredicateValue.all(self) }
}

extension PredicateValue {
    fileprivate static func all<Elements: Collection>(_ elements: Elements) -> [PredicateValue] {
        var values: [PredicateValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            let value = Elements.Element.self == AnyHashable.self ? (element as? AnyHashable)?.base : element as Any?
            values.append(PredicateValue(value))
        }
        return values
    }
}

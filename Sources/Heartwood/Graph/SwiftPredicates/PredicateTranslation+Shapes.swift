import Foundation

extension PredicateTranslation {
    /// The tree of a predicate, filled from the format of its shape: one that differs from an earlier one only in captured values is not
    /// translated again.
    /// - Parameters:
    ///   - variable: the predicate's, which stands for an object of the entity.
    ///   - translate: translates the predicate in a translation that is given.
    /// - Throws: `PredicateTranslationError`, as `translate` does.
    static func predicate(
        _ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID, _ entity: NSEntityDescription,
        _ layer: (any PredicateLayer)?
    ) throws -> NSPredicate {
        func translated(isTemplate: Bool) throws -> PredicateNode {
            var translation = PredicateTranslation(layer: layer)
            translation.isTemplate = isTemplate
            translation.bind(variable, to: TranslatedValue(.keyPath([]), entity: entity))
            return try translation.predicate(expression)
        }
        // An entity that may still change is another one afterwards.
        guard entity.isImmutable, let shaped = expression as? any ShapedExpression else {
            return NSPredicate(node: try translated(isTemplate: false))
        }
        var reader = ShapeReader(type(of: shaped), variable, layer)
        reader.read(shaped)
        guard !reader.isOdd else { return NSPredicate(node: try translated(isTemplate: false)) }
        if let known = entity.keyPathReadings.shapes.find(reader.shape) {
            if let format = known.format, let filled = NSPredicate(filling: format, with: reader.values) { return filled }
            return NSPredicate(node: try translated(isTemplate: false))
        }
        let node = try translated(isTemplate: false)
        guard entity.keyPathReadings.shapes.hasRoom else { return NSPredicate(node: node) }
        let format = template(node, reader.values, entity) { try translated(isTemplate: true) }
        entity.keyPathReadings.shapes.keep(PredicateShapes.Known(reader.shape, format))
        return format.flatMap { NSPredicate(filling: $0, with: reader.values) } ?? NSPredicate(node: node)
    }

    /// - Returns: nil where the format, filled with the values, is not what the translation gave.
    private static func template(
        _ node: PredicateNode, _ values: [PredicateValue], _ entity: NSEntityDescription, _ translate: () throws -> PredicateNode
    ) -> FormatTemplate? {
        guard !values.isEmpty, let model = try? translate() else { return nil }
        let template = FormatTemplate(model.joiningComposites(of: entity), argumentCount: values.count)
        guard let filled = template.filled(withValues: values) else { return nil }
        let wanted = PredicatePrinter.format(node.joiningComposites(of: entity))
        return PredicatePrinter.format(filled).hasSameBytes(as: wanted) ? template : nil
    }
}

extension ShapeReader {
    mutating func read(_ expression: some ShapedExpression) { add(expression) }
}

extension NSPredicate {
    /// - Returns: nil where a value does not fit.
    fileprivate convenience init?(filling format: FormatTemplate, with values: [PredicateValue]) {
        let known = KnownFormat(format)
        if values.count == 1, format.isSingle {
            guard format.takes(values[0]) else { return nil }
            self.init(tree: PredicateTree(known, values[0]), of: format)
        } else {
            guard let node = format.filled(withValues: values) else { return nil }
            self.init(tree: PredicateTree(node, of: known, values), of: format)
        }
    }
}

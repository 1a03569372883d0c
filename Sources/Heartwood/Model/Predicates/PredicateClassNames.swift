// Off Apple's platforms Foundation has classes of these names that cannot be used. A client that imports both modules must find ours,
// which a scoped import decides: it takes precedence over Foundation's whole, and holds for whoever imports this module.
// That is why the classes are a module of their own.

@_exported import class PredicateClasses.NSComparisonPredicate
@_exported import class PredicateClasses.NSCompoundPredicate
@_exported import class PredicateClasses.NSExpression
@_exported import class PredicateClasses.NSPredicate
@_exported import protocol PredicateClasses.ExpressionBody
@_exported import protocol PredicateClasses.MadeByFactory
@_exported import protocol PredicateClasses.PredicateBody
@_exported import class PredicateClasses.BlockBody

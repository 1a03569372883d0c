// Off Apple's platforms Foundation has unusable classes with these names. A client that imports both modules must find ours. A scoped import
// ensures that: it takes precedence over the import of all of Foundation, also in files that import this module.
// So the classes need a module of their own. The same holds for two functions that end the program for classes in other types.

@_exported import class PredicateClasses.NSComparisonPredicate
@_exported import class PredicateClasses.NSCompoundPredicate
@_exported import class PredicateClasses.NSExpression
@_exported import class PredicateClasses.NSPredicate
@_exported import protocol PredicateClasses.ExpressionBody
@_exported import protocol PredicateClasses.MadeByFactory
@_exported import protocol PredicateClasses.PredicateBody
@_exported import class PredicateClasses.BlockBody

#if !canImport(ObjectiveC)
    @_exported import func PredicateClasses.NSClassFromString
    @_exported import func PredicateClasses.NSStringFromClass
#endif

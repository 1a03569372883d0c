// Off Apple's platforms Foundation has unusable classes with these names. A client that imports both modules must find ours. A scoped import
// ensures that: it takes precedence over the import of all of Foundation, also in files that import this module.
// So the classes need a module of their own. The same holds for two functions that end the program for classes in other types.

@_exported import class HeartwoodPredicateClasses.BlockBody
@_exported import protocol HeartwoodPredicateClasses.ExpressionBody
@_exported import protocol HeartwoodPredicateClasses.MadeByFactory
@_exported import class HeartwoodPredicateClasses.NSComparisonPredicate
@_exported import class HeartwoodPredicateClasses.NSCompoundPredicate
@_exported import class HeartwoodPredicateClasses.NSExpression
@_exported import class HeartwoodPredicateClasses.NSPredicate
@_exported import protocol HeartwoodPredicateClasses.PredicateBody

#if !canImport(ObjectiveC)
    @_exported import func HeartwoodPredicateClasses.NSClassFromString
    @_exported import func HeartwoodPredicateClasses.NSStringFromClass
#endif

/// What a plan with parameters is bound to: the arguments of one fetch, and the table and the view that it reads.
struct PlanBinding {
    let arguments: PredicateTree
    let table: EntityTable
    let view: RecordLogView
    /// Its key is a buffer while a plan is bound.
    let scope: QueryScope
}

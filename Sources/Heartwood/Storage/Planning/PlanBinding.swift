/// The arguments of one fetch, to which a plan with parameters is bound, with the table and the view that it reads.
struct PlanBinding {
    let arguments: PredicateTree
    let table: EntityTable
    let view: RecordLogView
    /// Its key is a buffer while a plan is bound.
    let scope: QueryScope
}

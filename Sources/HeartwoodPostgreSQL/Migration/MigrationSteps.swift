import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// Statements of a migration in their order, with what they are about.
struct MigrationSteps {
    enum Subject {
        case tables
        /// Values of an entity's rows, in one column or in several.
        case values(BoundEntity?, Int?)
        case uniqueness(FamilyTable.Constraint, entity: String)
    }

    private var steps: [(text: String, subject: Subject)] = []

    mutating func add(_ text: String, _ subject: Subject = .tables) { steps.append((text, subject)) }

    /// - Throws: 134110 for a value that does not fit, 134111 for values that are not unique, what the server reports.
    func run(_ connection: PostgreSQLConnection) throws {
        var batch = PostgreSQLBatch()
        for step in steps { batch.add(PostgreSQLStatement(step.text, isPrepared: false)) }
        do {
            try connection.execute(batch)
        } catch {
            guard error.kind == .server, steps.indices.contains(error.statement) else { throw error }
            throw Self.meaning(error, steps[error.statement].subject) ?? error
        }
    }

    private static func meaning(_ error: PostgreSQLError, _ subject: Subject) -> NSError? {
        switch (error.state, subject) {
        case ("23505", .uniqueness(let constraint, let entity)): return violation(constraint, entity, error)
        // Out of range, or no number.
        case ("22003", .values(let entity?, let column)), ("22P02", .values(let entity?, let column)):
            let field = entity.fields.first { column == nil ? $0.kind != .toOne : $0.column == column }
            return field.map { MigrationErrors.unsuited("A value does not fit the attribute's type: \(error.message)", entity.property($0), of: entity.description) }
        // A query for one value gave several.
        case ("21000", .values(let entity?, _)):
            let field = entity.fields.first { $0.kind == .toOne }
            return field.map { MigrationErrors.unsuited("An object would have two destinations of a to-one relationship", entity.property($0), of: entity.description) }
        default: return nil
        }
    }

    private static func violation(_ constraint: FamilyTable.Constraint, _ entity: String, _ error: PostgreSQLError) -> NSError {
        CoreDataError.make(
            NSMigrationConstraintViolationError,
            "The store cannot be brought to the model's version: objects of \(entity) have the same values of "
                + "\(constraint.attributes.joined(separator: ", ")), which are unique in that version (\(error.detail ?? error.message)). It is as it was.",
            ["reason": "constraint violation during attempted migration", "entity": entity, "constraint": constraint.attributes])
    }
}

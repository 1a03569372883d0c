import Foundation
import Heartwood

/// A query of the command line, `Entity: predicate`, and its answer.
struct ReportQueryGathering {
    private static let firstMax = 50

    let entity: String
    let predicate: String

    /// - Throws: for a text without an entity.
    init(_ title: String, _ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw ToolError.usage("\(title) is 'Entity: predicate', not \"\(DisplayWidth.printable(text))\"")
        }
        (entity, predicate) = (parts[0], parts[1])
        _ = try QueryText.predicate(predicate)
    }

    func run(_ open: OpenStore, _ titles: ReportTitles, _ counts: [String: Int]) throws -> ReportQuery {
        let described = try open.entity(entity)
        var result = ReportQuery(entity: entity, predicate: predicate, objects: counts[entity])
        let request = NSFetchRequest<NSManagedObjectID>(entityName: described.title)
        request.resultType = .managedObjectIDResultType
        do {
            request.predicate = try open.meant(try QueryText.predicate(predicate), about: described)
            let start = ContinuousClock.now
            let plan = try open.context.explain(request)
            result.milliseconds = Double((ContinuousClock.now - start) / .microseconds(1)) / 1000
            result.steps = plan.lookups.map { Self.step($0.entityName, $0.access, isLookup: true) }
                + plan.parts.map { Self.step($0.entityName, $0.access, isLookup: false) }
            (result.visited, result.matched) = (plan.rowsVisited, plan.rowsMatched)
            (result.isSorted, result.isInMemory, result.lines) = (plan.isSorted, plan.isInMemory, plan.lines)
            request.fetchLimit = Self.firstMax
            result.first = try open.context.fetch(request).map(titles.id)
        } catch {
            result.failure = ToolError.message(of: error)
        }
        return result
    }

    private static func step(_ entity: String, _ access: FetchPlan.Access, isLookup: Bool) -> ReportQuery.Step {
        let way: ReportQuery.Step.Way = switch access {
        case .scan: .scan
        case .index: .index
        case .rows: .rows
        case .union: .union
        case .nothing: .nothing
        }
        return ReportQuery.Step(entity: entity, way: way, text: access.description, isLookup: isLookup)
    }
}

import Foundation
import Heartwood

/// A change of the objects that a predicate finds, as one save with the model's validation and delete rules. One commit has them all, so each
/// changed object is in memory until the save ends.
struct ObjectChange {
    enum Kind {
        case update([Assignment])
        case delete
    }

    /// The most objects, and the most refusals, that are shown.
    private static let shownMax = 10

    let open: OpenStore
    let entity: NSEntityDescription
    let kind: Kind

    /// - Parameter isDry: shows what would change, and saves nothing.
    /// - Throws: if an object refuses the change. Nothing is saved then.
    func run(_ predicate: NSPredicate?, isDry: Bool) throws {
        let found = try objects(predicate)
        for object in found { try apply(to: object) }
        open.context.processPendingChanges()
        let changed = found.filter { $0.isDeleted || $0.hasPersistentChangedValues }
        // A save forgets the changes.
        let others = SideEffects(of: changed, in: open.context).lines
        if isDry { try preview(changed) } else { try save() }
        Output.line(summary(found.count, changed.count, isDry: isDry))
        for line in others { Output.line(line) }
    }

    private func objects(_ predicate: NSPredicate?) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.title)
        request.predicate = try open.meant(predicate, about: entity)
        do {
            return try open.context.fetch(request)
        } catch {
            throw ToolError.ofRequest(error)
        }
    }

    private func apply(to object: NSManagedObject) throws {
        switch kind {
        case .update(let assignments): for assignment in assignments { try assignment.apply(to: object) }
        case .delete: open.context.delete(object)
        }
    }

    private func summary(_ found: Int, _ changed: Int, isDry: Bool) -> String {
        let verb = switch kind {
        case .update: "updated"
        case .delete: "deleted"
        }
        let same = found - changed
        return "\(Output.number(changed)) \(verb)\(same > 0 ? ", \(Output.number(same)) had these values" : "")"
            + (isDry ? "; a dry run, nothing is saved" : "")
    }

    // MARK: Ends

    private func save() throws {
        guard open.context.hasChanges else { return }
        do {
            try open.context.save()
        } catch {
            throw try failure(Refusal.list(error))
        }
    }

    private func preview(_ changed: [NSManagedObject]) throws {
        for object in changed.prefix(Self.shownMax) {
            let difference = ObjectDifference(pending: object)
            Output.lines(DifferenceText.lines(difference), first: DifferenceText.paint(difference.kind))
        }
        if changed.count > Self.shownMax { Output.line(Excerpt.more(changed.count - Self.shownMax)) }
        let refusals = try Refusal.list(validating: open.context) + UniqueValues(changed, in: open.context).refusals()
        if !refusals.isEmpty { throw try failure(refusals) }
    }

    private func failure(_ refusals: [Refusal]) throws -> ToolError {
        for refusal in refusals.prefix(Self.shownMax) { Output.error(DisplayWidth.printable(refusal.line)) }
        if refusals.count > Self.shownMax { Output.error(Excerpt.more(refusals.count - Self.shownMax)) }
        return .failure("\(Output.count(refusals.count, "refusal")); nothing is saved")
    }
}

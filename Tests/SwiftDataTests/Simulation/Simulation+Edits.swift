import Foundation
import HeartwoodTestSupport
import SwiftData

extension Simulation {
    func pick(_ context: SimulatedContext, _ kind: PlainGraph.Kind? = nil) -> Int? {
        context.plain.shown.rows.filter { kind == nil || $0.value.kind == kind }.keys.sorted().randomElement(using: &random)
    }

    func changeValue(_ context: SimulatedContext, _ models: [Int: Thing]) {
        guard let number = pick(context), let model = models[number] else { return }
        for _ in 0...Int.random(in: 0..<3, using: &random) {
            guard let property = properties.randomElement(using: &random) else { continue }
            let drawn = property.draw(&random)
            guard maySet(context, number, property.name, drawn.text) else { continue }
            say("\(context.name): \(property.name) of \(number) = \(drawn.text)", count: "value")
            drawn.set(model)
            context.plain.shown.rows[number]?.values[property.name] = drawn.text
            context.plain.values[number, default: []].insert(property.name)
        }
    }

    func changeLink(_ context: SimulatedContext, _ models: [Int: Thing]) {
        guard let link = PlainGraph.Link.allCases.randomElement(using: &random), let owner = pick(context, .owner),
            let model = models[owner] as? SimulatedOwner
        else { return }
        var graph = context.plain.shown
        if chance(4), !link.hasOneMember {
            let all = graph.rows.filter { $0.value.kind == link.member }.keys.sorted()
            let members = all.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
            let reach = graph.setMembers(link, owner, Set(members))
            guard mayLink(context, reach.union([owner])) else { return }
            say("\(context.name): \(link) of \(owner) = \(members)", count: "link")
            model.setMembers(link, members.compactMap { models[$0] })
            apply(graph, reach, context)
            return
        }
        guard let member = pick(context, link.member), let other = models[member] else { return }
        let isLinked = !chance(3), fromOwner = Bool.random(using: &random)
        // From one side alone, a to-one relationship to nil ends whatever there was.
        let former = fromOwner ? graph.members(link, of: owner) : graph.owners(link, of: member)
        if !isLinked, fromOwner ? link.hasOneMember : link.hasOneOwner, let only = former.first {
            let reach = fromOwner ? graph.unlink(link, owner, only) : graph.unlink(link, only, member)
            guard mayLink(context, reach) else { return }
            say("\(context.name): \(link) of \(fromOwner ? owner : member) ends, from \(fromOwner)", count: "link")
            model.set(link, other, isLinked: false, fromOwner: fromOwner)
            return apply(graph, reach, context)
        }
        let reach = isLinked ? graph.link(link, owner, member) : graph.unlink(link, owner, member)
        guard mayLink(context, reach.union([owner, member])) else { return }
        say("\(context.name): \(link) of \(owner) \(isLinked ? "with" : "without") \(member), from \(fromOwner ? "owner" : "member")", count: "link")
        model.set(link, other, isLinked: isLinked, fromOwner: fromOwner)
        apply(graph, reach, context)
    }

    func apply(_ graph: PlainGraph, _ reach: Set<Int>, _ context: SimulatedContext) {
        context.plain.shown = graph
        context.plain.linked.formUnion(reach)
        context.plain.isTouched = true
    }

    /// Makes models of no context, links them, and inserts some of them; the others come with their links.
    func insertGraph(_ context: SimulatedContext, _ models: [Int: Thing]) throws {
        var loose = PlainGraph(), made: [Int: Thing] = [:]
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            count += 1
            let kind = chance(2) ? .owner : PlainGraph.Kind.allCases.randomElement(using: &random) ?? .owner
            let model = kind.make(count)
            made[count] = model
            loose.rows[count] = PlainGraph.Row(kind: kind)
            for property in properties where chance(4) {
                let drawn = property.draw(&random)
                drawn.set(model)
                loose.rows[count]?.values[property.name] = drawn.text
            }
        }
        for _ in 0..<made.count { linkLoose(&loose, made) }
        for (number, model) in made {
            for link in PlainGraph.Link.allCases {
                // An array of a model of no context may name a model twice.
                guard Set(model.members(link)) == loose.members(link, of: number), Set(model.owners(link)) == loose.owners(link, of: number)
                else { throw SimulationProblem("\(link) of \(number), of no context, are wrong") }
            }
        }
        say("\(context.name): new \(loose.rows.map { "\($0.value.kind) \($0.key)" }) with \(loose.pairs)", count: "insertion")
        var waiting = Set(made.keys)
        while let number = waiting.sorted().randomElement(using: &random), let model = made[number] {
            let component = loose.component(of: number)
            waiting.subtract(component)
            let part = PlainGraph(rows: loose.rows.filter { component.contains($0.key) }, pairs: loose.pairs.filter { component.contains($0.owner) })
            if !(chance(2) && join(context, models, part, number, model)) {
                say("\(context.name): inserts \(number)", count: "insert")
                context.context.insert(model)
            }
            context.plain.shown.rows.merge(part.rows) { $1 }
            context.plain.shown.pairs.formUnion(part.pairs)
            context.plain.inserted.formUnion(component)
            context.plain.linked.formUnion(component)
            if let pending = context.plain.joining { context.plain.joining = nil; apply(pending, context) }
            for (number, model) in made where component.contains(number) {
                guard model.modelContext === context.context else { throw SimulationProblem("\(context.name) has not got \(number)") }
                if chance(3) { context.held[number] = model }
            }
        }
    }

    private func linkLoose(_ graph: inout PlainGraph, _ made: [Int: Thing]) {
        guard let owner = graph.rows.filter({ $0.value.kind == .owner }).keys.sorted().randomElement(using: &random),
            let link = PlainGraph.Link.allCases.randomElement(using: &random),
            let member = graph.rows.filter({ $0.value.kind == link.member }).keys.sorted().randomElement(using: &random),
            let model = made[owner] as? SimulatedOwner, let other = made[member]
        else { return }
        model.set(link, other, isLinked: true, fromOwner: Bool.random(using: &random))
        graph.link(link, owner, member)
    }

    /// Brings a model of no context in by a relationship with one of the context.
    private func join(_ context: SimulatedContext, _ models: [Int: Thing], _ part: PlainGraph, _ number: Int, _ model: Thing) -> Bool {
        let links = PlainGraph.Link.allCases.filter { $0.member == part.rows[number]?.kind }
        guard let link = links.randomElement(using: &random), let owner = pick(context, .owner), let known = models[owner] as? SimulatedOwner else {
            return false
        }
        var graph = context.plain.shown
        graph.rows.merge(part.rows) { $1 }
        graph.pairs.formUnion(part.pairs)
        let reach = graph.link(link, owner, number)
        guard mayLink(context, reach) else { return false }
        let fromOwner = Bool.random(using: &random)
        say("\(context.name): \(number) joins as one of the \(link) of \(owner), from \(fromOwner ? "owner" : "member")", count: "join")
        known.set(link, model, isLinked: true, fromOwner: fromOwner)
        context.plain.joining = PlainContext.Joining(graph: graph, reach: reach)
        return true
    }

    private func apply(_ joining: PlainContext.Joining, _ context: SimulatedContext) { apply(joining.graph, joining.reach, context) }

    func delete(_ context: SimulatedContext, _ models: [Int: Thing]) {
        guard context.plain.shown.rows.count > 8, let number = pick(context), let model = models[number] else { return }
        var graph = context.plain.shown
        guard graph.members(.locks, of: number).isEmpty else { return }
        let gone = graph.deletion(of: number)
        guard mayDelete(context, gone, partners: gone.reduce(into: []) { $0.formUnion(graph.partners(of: $1)) }) else { return }
        say("\(context.name): deletes \(gone.sorted())", count: "deletion")
        if chance(4), case let id = model.persistentModelID, !context.plain.inserted.contains(number) {
            guard (try? context.context.delete(model: Thing.self, where: #Predicate { $0.persistentModelID == id })) != nil else { return }
        } else {
            context.context.delete(model)
        }
        context.context.processPendingChanges()
        context.plain.linked.formUnion(graph.remove(gone))
        context.plain.shown = graph
        context.plain.deleted.formUnion(gone.subtracting(context.plain.inserted))
        context.plain.inserted.subtract(gone)
        for number in gone {
            context.plain.values[number] = nil
            context.held[number] = nil
        }
    }

    /// A deletion that a relationship denies is refused by the save.
    func denyDeletion(_ context: SimulatedContext, _ models: [Int: Thing]) throws {
        let holders = context.plain.shown.rows.keys.filter { !context.plain.shown.members(.locks, of: $0).isEmpty }.sorted()
        guard let number = holders.randomElement(using: &random), let model = models[number] else { return }
        say("\(context.name): tries to delete \(number)", count: "denial")
        if context.plain.hasChanges { try save(context) }
        context.context.delete(model)
        do {
            try context.context.save()
        } catch SwiftDataError.modelValidationFailure {
            return try rollBack(context)
        }
        throw SimulationProblem("\(context.name): the deletion of \(number) was saved in spite of its locks")
    }

    /// Links a model with one that another context has; this context finds its own.
    func linkAcross(_ context: SimulatedContext, _ models: [Int: Thing]) throws {
        guard let other = contexts.filter({ $0 !== context && $0.actor == nil }).randomElement(using: &random),
            let link = [PlainGraph.Link.cards, .clubs, .locks].randomElement(using: &random), let owner = pick(context, .owner),
            let model = models[owner] as? SimulatedOwner, let member = pick(context, link.member), !context.plain.inserted.contains(member),
            let twin = try bringUp(other)[member]
        else { return }
        var graph = context.plain.shown
        let reach = graph.link(link, owner, member)
        guard mayLink(context, reach.union([owner, member])) else { return }
        let fromOwner = true
        say("\(context.name): \(link) of \(owner) with \(member) of \(other.name)", count: "link across")
        model.set(link, twin, isLinked: true, fromOwner: fromOwner)
        apply(graph, reach, context)
    }

    func changeLabel(_ context: SimulatedContext) throws {
        let code = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
        guard context.plain.labels[code] == nil else { return }
        let label = SimulatedLabel(code: code, weight: Int.random(in: 1...99, using: &random), note: "n\(Int.random(in: 0...9, using: &random))")
        say("\(context.name): label \(code) = \(label.state)", count: "label")
        context.context.insert(label)
        context.plain.labels[code] = label.state
    }

    func hold(_ context: SimulatedContext, _ models: [Int: Thing]) {
        if chance(4) { context.held = [:] }
        for number in models.keys.sorted() where chance(3) { context.held[number] = models[number] }
    }
}

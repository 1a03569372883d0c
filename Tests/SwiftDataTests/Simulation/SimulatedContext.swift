import Foundation
import SwiftData

/// One model context of the simulation, with what it should show.
final class SimulatedContext {
    let name: String
    let context: ModelContext
    /// The actor whose context it is; nil for one of the test's own actor.
    let actor: SimulatedActor?
    var plain: PlainContext
    /// Models that the program holds, some of them over many steps.
    var held: [Int: Thing] = [:]

    init(_ name: String, _ context: ModelContext, _ store: PlainGraph, actor: SimulatedActor? = nil) {
        self.name = name
        self.context = context
        self.actor = actor
        plain = PlainContext(store)
    }

    /// The models by number. The fetch takes in the saves of others.
    func models() throws -> [Int: Thing] {
        let all = try context.fetch(FetchDescriptor<Thing>())
        for model in all {
            guard let known = held[model.number] else { continue }
            guard known === model else { throw SimulationProblem("\(name): \(model.number) is another model than the one that is held") }
        }
        guard Set(all.map(\.number)).count == all.count else { throw SimulationProblem("\(name): \(all.map(\.number).sorted()) has a number twice") }
        return Dictionary(all.map { ($0.number, $0) }) { $1 }
    }

    /// Compares all models with the plain values.
    func check(_ properties: [ThingProperty], _ defaults: [String: String]) throws {
        let models = try models()
        let expected = plain.shown
        func fail(_ what: String) -> SimulationProblem { SimulationProblem("\(name): \(what)") }
        guard Set(models.keys) == Set(expected.rows.keys) else {
            throw fail("the models are \(models.keys.sorted()), not \(expected.rows.keys.sorted())")
        }
        for (number, model) in models {
            guard let row = expected.rows[number] else { continue }
            for property in properties {
                let found = property.text(model), wanted = row.values[property.name] ?? defaults[property.name]
                guard found == wanted else { throw fail("\(property.name) of \(number) is \(found), not \(wanted ?? "-")") }
            }
            for link in PlainGraph.Link.allCases {
                if row.kind == .owner {
                    let found = model.members(link), wanted = expected.members(link, of: number).sorted()
                    guard found == wanted else { throw fail("\(link) of \(number) are \(found), not \(wanted)") }
                }
                if row.kind == link.member {
                    let found = model.owners(link), wanted = expected.owners(link, of: number).sorted()
                    guard found == wanted else { throw fail("\(link) lead to \(number) from \(found), not \(wanted)") }
                }
            }
            guard model.modelContext === context, !model.isDeleted else { throw fail("\(number) is not in the context") }
        }
    }
}

@ModelActor actor SimulatedActor {
    func run(_ body: @Sendable () throws -> Void) rethrows { try body() }
}

struct SimulationProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Thing {
    /// The numbers at the other end of a relationship, of an owner.
    func members(_ link: PlainGraph.Link) -> [Int] {
        guard let owner = self as? SimulatedOwner else { return [] }
        let found: [Thing] =
            switch link {
            case .children: owner.children
            case .cards: owner.cards
            case .locks: owner.locks
            case .badge: owner.badge.map { [$0] } ?? []
            case .clubs: owner.clubs
            }
        return found.map(\.number).sorted()
    }

    func owners(_ link: PlainGraph.Link) -> [Int] {
        let found: [SimulatedOwner] =
            switch link {
            case .children: [(self as? SimulatedOwner)?.parent].compactMap(\.self)
            case .cards: [(self as? SimulatedCard)?.owner].compactMap(\.self)
            case .locks: [(self as? Lock)?.owner].compactMap(\.self)
            case .badge: [(self as? SimulatedBadge)?.owner].compactMap(\.self)
            case .clubs: (self as? Club)?.owners ?? []
            }
        return found.map(\.number).sorted()
    }
}

extension SimulatedOwner {
    /// Sets or ends a relationship from either side.
    func set(_ link: PlainGraph.Link, _ member: Thing, isLinked: Bool, fromOwner: Bool) {
        switch (link, member) {
        case (.children, let child as SimulatedOwner):
            if !fromOwner {
                child.parent = isLinked ? self : nil
            } else if isLinked { children.append(child) } else { children.removeAll { $0 === child } }
        case (.cards, let card as SimulatedCard):
            if !fromOwner { card.owner = isLinked ? self : nil } else if isLinked { cards.append(card) } else { cards.removeAll { $0 === card } }
        case (.locks, let lock as Lock):
            if !fromOwner { lock.owner = isLinked ? self : nil } else if isLinked { locks.append(lock) } else { locks.removeAll { $0 === lock } }
        case (.badge, let badge as SimulatedBadge):
            if !fromOwner { badge.owner = isLinked ? self : nil } else { self.badge = isLinked ? badge : nil }
        case (.clubs, let club as Club):
            if !fromOwner {
                if isLinked { club.owners.append(self) } else { club.owners.removeAll { $0 === self } }
            } else if isLinked { clubs.append(club) } else { clubs.removeAll { $0 === club } }
        default: break
        }
    }

    /// Sets all members of a to-many relationship at once.
    func setMembers(_ link: PlainGraph.Link, _ members: [Thing]) {
        switch link {
        case .children: children = members.compactMap { $0 as? SimulatedOwner }
        case .cards: cards = members.compactMap { $0 as? SimulatedCard }
        case .locks: locks = members.compactMap { $0 as? Lock }
        case .badge: badge = members.first as? SimulatedBadge
        case .clubs: clubs = members.compactMap { $0 as? Club }
        }
    }
}

import Foundation
import SwiftData

// The models of the questions on models, relationships, contexts and stores.

/// Its beds go with it, its gardeners stay.
@Model final class Garden {
    @Attribute(.unique) var name: String
    var area: Double = 0
    var opened: Date?
    @Relationship(deleteRule: .cascade, inverse: \Bed.garden) var beds: [Bed] = []
    @Relationship(inverse: \Gardener.gardens) var gardeners: [Gardener] = []
    @Transient var visitors = 0
    var title: String { "\(name), \(area)" }

    init(name: String, area: Double = 0) {
        self.name = name
        self.area = area
    }
}

@Model final class Bed {
    var number: Int
    var garden: Garden?
    @Relationship(deleteRule: .cascade, inverse: \Plant.bed) var plants: [Plant] = []

    init(number: Int, garden: Garden? = nil, plants: [Plant] = []) {
        self.number = number
        self.garden = garden
        self.plants = plants
    }
}

/// Its sign is found as the only property that leads back.
@Model final class Plant {
    var name: String
    var height: Double = 0
    var bed: Bed?
    var sign: Sign?
    var notes: [Note]?

    init(name: String, height: Double = 0, bed: Bed? = nil) {
        self.name = name
        self.height = height
        self.bed = bed
    }
}

@Model final class Sign {
    var text: String
    var plant: Plant?

    init(text: String, plant: Plant? = nil) {
        self.text = text
        self.plant = plant
    }
}

@Model final class Note {
    var text: String
    var plant: Plant?

    init(text: String) { self.text = text }
}

/// One whom another one has taught.
@Model final class Gardener {
    var name: String
    var gardens: [Garden] = []
    @Relationship(inverse: \Gardener.pupils) var mentor: Gardener?
    var pupils: [Gardener] = []

    init(name: String, mentor: Gardener? = nil) {
        self.name = name
        self.mentor = mentor
    }
}

// MARK: Delete rules

/// Cannot be deleted while it has rakes.
@Model final class Shed {
    var name: String
    @Relationship(deleteRule: .deny, inverse: \Rake.shed) var rakes: [Rake] = []

    init(name: String) { self.name = name }
}

@Model final class Rake {
    var teeth: Int
    var shed: Shed?

    init(teeth: Int, shed: Shed? = nil) {
        self.teeth = teeth
        self.shed = shed
    }
}

/// The fish are not told of its end.
@Model final class Pond {
    var depth: Int
    @Relationship(deleteRule: .noAction) var fish: [Fish] = []

    init(depth: Int) { self.depth = depth }
}

@Model final class Fish {
    var name: String

    init(name: String) { self.name = name }
}

/// Each end takes the other one with it.
@Model final class Flower {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Bee.flower) var bee: Bee?

    init(name: String) { self.name = name }
}

@Model final class Bee {
    var name: String
    @Relationship(deleteRule: .cascade) var flower: Flower?

    init(name: String, flower: Flower? = nil) {
        self.name = name
        self.flower = flower
    }
}

// MARK: Required ends and counts

/// An egg must have its nest, so the nest cannot go alone.
@Model final class Nest {
    var place: String
    @Relationship(inverse: \Egg.nest) var eggs: [Egg] = []

    init(place: String) { self.place = place }
}

@Model final class Egg {
    var weight: Int
    var nest: Nest

    init(weight: Int, nest: Nest) {
        self.weight = weight
        self.nest = nest
    }
}

/// Nobody states an inverse, and the other end must have a value.
@Model final class Tower {
    var name: String
    var bells: [Bell] = []

    init(name: String) { self.name = name }
}

@Model final class Bell {
    var note: String
    var tower: Tower

    init(note: String, tower: Tower) {
        self.note = note
        self.tower = tower
    }
}

/// One or two rowers.
@Model final class Canoe {
    var name: String
    @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Rower.canoe) var rowers: [Rower] = []

    init(name: String, rowers: [Rower] = []) {
        self.name = name
        self.rowers = rowers
    }
}

@Model final class Rower {
    var name: String
    var canoe: Canoe?

    init(name: String) { self.name = name }
}

/// One badge hangs at one coat only.
@Model final class Coat {
    var name: String
    @Relationship(.unique) var badge: Badge?

    init(name: String, badge: Badge? = nil) {
        self.name = name
        self.badge = badge
    }
}

@Model final class Badge {
    var number: Int

    init(number: Int) { self.number = number }
}

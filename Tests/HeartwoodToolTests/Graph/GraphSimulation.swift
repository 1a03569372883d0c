import Foundation
import Heartwood
import HeartwoodTestSupport
import heartwood_testprocess

/// One run, named by its seed. Two rules let plain rows say the result: one context at a time changes what an object points at between two saves, and
/// no context deletes an object that another one has changed.
final class GraphSimulation {
    /// An undo group of the child: rows before and after.
    struct Group {
        var rows: [Int: (before: GraphRow?, after: GraphRow?)] = [:]
        var reach = GraphReach()
    }

    /// A context that falls behind, and whose properties win in a conflict.
    let ahead: GraphPlayer
    /// A context that merges automatically; in a conflict the store's properties win.
    let follower: GraphPlayer
    /// A child of `ahead`.
    let child: GraphPlayer
    var store = GraphStore()
    var random: SeededGenerator
    private(set) var story: [String] = []
    /// The number of each kind of event; a run without an event proves nothing about it.
    private(set) var counts: [String: Int] = [:]
    let url: URL?
    private let coordinator: NSPersistentStoreCoordinator
    private let partner: GraphPartner?
    private let history: GraphHistory
    let undoManager = UndoManager()
    var past: [Group] = [], future: [Group] = []
    /// The child's changes since its last save.
    var unsaved = GraphReach()
    /// Objects that were changed and restored: they may have a change that is equal to the old state.
    var undone: Set<Int> = []
    private var number = 0
    private var stepNumber = 0

    private static let most: [GraphKind: Int] = [.person: 7, .group: 3, .tag: 4, .task: 8, .book: 5]

    init(seed: UInt64, file url: URL?) throws {
        self.url = url
        random = SeededGenerator(seed: seed)
        coordinator = try GraphHand.coordinator(url == nil ? NSInMemoryStoreType : NSRecordLogStoreType, at: url, tracksHistory: true)
        history = GraphHistory(coordinator)
        partner = try url.map(GraphPartner.init)
        ahead = GraphPlayer("the one ahead", GraphHand.context(coordinator))
        follower = GraphPlayer("the follower", GraphHand.context(coordinator))
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.parent = ahead.context
        context.automaticallyMergesChangesFromParent = seed % 2 == 0
        context.undoManager = undoManager
        undoManager.groupsByEvent = false
        child = GraphPlayer("the child", context)
        ahead.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        follower.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        follower.context.automaticallyMergesChangesFromParent = true
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }

    func say(_ what: String, count: String) {
        story.append("\(stepNumber) \(what)")
        counts[count, default: 0] += 1
    }

    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    // MARK: Edits

    private func pick(_ state: GraphState, _ kind: GraphKind) -> Int? { state.numbers(kind).randomElement(using: &random) }

    private func someAttribute(_ state: GraphState, among numbers: Set<Int>? = nil) -> GraphEdit? {
        guard let one = (numbers ?? Set(state.rows.keys)).sorted().randomElement(using: &random) else { return nil }
        return state.rows[one].map { .values(one, someValues(of: $0)) }
    }

    /// Values for some attributes at once, including null.
    private func someValues(of row: GraphRow) -> [String: SampleValue?] {
        var values: [String: SampleValue?] = [:]
        // Sometimes most of them are cleared, and the others stay.
        if chance(4) {
            for (name, _) in row.kind.attributes where chance(2) { values.updateValue(nil, forKey: name) }
            return values
        }
        for (name, type) in row.kind.attributes where !chance(3) {
            let domain = chance(40) ? ValueDomain(longest: 5000) : .short
            values.updateValue(domain.draw(type, from: row.values[name], &random), forKey: name)
        }
        return values
    }

    private func someEdit(_ state: GraphState) -> GraphEdit? {
        let isFromOther = chance(2)
        switch Int.random(in: 0..<18, using: &random) {
        case 16...: return someAttribute(state)
        case 0..<4:
            guard let kind = GraphKind.allCases.randomElement(using: &random), state.numbers(kind).count < Self.most[kind] ?? 0
            else { return nil }
            number += 1
            return .insert(number, kind)
        case 4..<6: return someAttribute(state)
        case 6..<8: return pick(state, .person).map { .group($0, chance(4) ? nil : pick(state, .group), isFromGroup: isFromOther) }
        case 8..<10:
            guard let person = pick(state, .person), let tag = pick(state, .tag) else { return nil }
            return .tag(person, tag, isIn: !(state.rows[person]?.tags.contains(tag) ?? false), isFromTag: isFromOther)
        case 10: return pick(state, .task).map { .owner($0, chance(4) ? nil : pick(state, .person)) }
        case 11:
            guard let person = pick(state, .person) else { return nil }
            return .tasks(person, some(state.rows[person]?.tasks ?? [], pick(state, .task)))
        case 12:
            guard let person = pick(state, .person), let book = pick(state, .book) else { return nil }
            return .book(person, book, isIn: !(state.rows[person]?.books.contains(book) ?? false), isFromBook: isFromOther)
        case 13:
            guard let person = pick(state, .person) else { return nil }
            return .books(person, some(state.rows[person]?.books ?? [], pick(state, .book)))
        default:
            guard state.rows.count > 8 else { return nil }
            return state.rows.keys.sorted().randomElement(using: &random).map { .delete($0) }
        }
    }

    /// Another order, sometimes with one more or fewer.
    private func some(_ old: [Int], _ one: Int?) -> [Int] {
        var new = old.shuffled(using: &random)
        if chance(3) { _ = new.popLast() }
        if let one, !new.contains(one) { new.insert(one, at: Int.random(in: 0...new.count, using: &random)) }
        return new
    }

    /// - Parameter player: nil for the second process.
    private func isAllowed(_ edit: GraphEdit, _ state: GraphState, by player: GraphPlayer?) -> Bool {
        let reach = state.reach(of: edit)
        // Objects that the child can undo must not have pending changes in another context.
        if player === child, !follower.pending.all.isDisjoint(with: reach.all) { return false }
        return [ahead, follower, child].allSatisfy { (other: GraphPlayer) in
            other === player || player === child && other === ahead || other.allows(reach)
        }
    }

    func edit(_ player: GraphPlayer) throws {
        if let edit = someEdit(player.shown) { try make(edit, player) }
    }

    /// - Parameter numbers: the eligible objects.
    private func editAttribute(_ player: GraphPlayer, among numbers: Set<Int>? = nil) throws {
        // A context that is behind may know objects that no longer exist.
        let there = Set(player.shown.rows.keys.filter { player.base.rows[$0] == nil || store.state.rows[$0] != nil })
        if let edit = someAttribute(player.shown, among: there.intersection(numbers ?? there)) { try make(edit, player) }
    }

    private func make(_ edit: GraphEdit, _ player: GraphPlayer) throws {
        guard isAllowed(edit, player.shown, by: player) else { return }
        say("\(player.name): \(edit)", count: "edit")
        try player.make(edit)
    }

    // MARK: Looking

    private func bringUp() throws {
        ahead.context.refreshAllObjects()
        ahead.rebase(on: store.state, versions: store.versions)
        try ahead.read()
    }

    func bringUpChild() throws {
        try bringUp()
        child.context.refreshAllObjects()
        child.rebase(on: ahead.shown)
        try child.read()
    }

    /// The follower's fetch reads the second process's commits.
    private func settle() throws {
        follower.rebase(on: store.state, versions: store.versions)
        try follower.check(&random)
    }

    private func checkStore() throws {
        let reader = GraphPlayer("a new context", GraphHand.context(coordinator))
        reader.shown = store.state
        try reader.check(&random)
    }

    private func checkPartner() throws {
        guard let sights = try partner?.ask(.look).sights else { return }
        guard sights == store.state.sights else { throw GraphProblem("the second process sees \(sights), not \(store.state.sights)") }
    }

    // MARK: Saving

    /// - Returns: the objects that the context has updated and deleted.
    @discardableResult
    private func save(_ player: GraphPlayer) throws -> (updated: Set<Int>, deleted: Set<Int>) {
        // The others have deleted the rest, and the player has merged that.
        let updated = Set(player.context.updatedObjects.map(\.number))
        let deleted = Set(player.context.deletedObjects.map(\.number)).intersection(player.base.rows.keys)
        let inserted = Set(player.context.insertedObjects.map(\.number))
        guard deleted == player.gone else { throw GraphProblem("\(player.name) deletes \(deleted), not \(player.gone)") }
        let conflicts = updated.union(deleted).filter { store.versions[$0] != player.versions[$0] }
        say("\(player.name): save, conflicts \(conflicts.sorted())", count: conflicts.isEmpty ? "save" : "conflict")
        if chance(2) { try refuse(player, conflicts) }
        try player.context.save()
        store.commit(player.shown.changes(since: player.base, on: store.state, keepsOthers: player === follower))
        for number in deleted { player.hand.forget(number) }
        for number in deleted { player.base.rows[number] = nil }
        for number in updated.union(inserted) { player.base.rows[number] = store.state.rows[number] }
        player.forgetChanges()
        for number in updated.union(inserted) { player.versions[number] = store.versions[number] }
        if player === ahead, child.context.automaticallyMergesChangesFromParent {
            child.rebase(updated.filter { child.base.rows[$0] != nil }, onParent: ahead.shown)
        }
        // The follower's save may have merged other commits.
        if player !== follower { try player.checkRows() }
        return (updated, deleted)
    }

    /// Under the error policy exactly the expected conflicts occur.
    private func refuse(_ player: GraphPlayer, _ conflicts: Set<Int>) throws {
        guard !conflicts.isEmpty else { return }
        let policy = player.context.mergePolicy
        player.context.mergePolicy = NSMergePolicy.error
        defer { player.context.mergePolicy = policy }
        do {
            try player.context.save()
        } catch {
            let found = (error as NSError).userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
            let numbers = Set(found.map(\.sourceObject.number))
            guard numbers == conflicts else { throw GraphProblem("\(player.name): \(error), and not conflicts of \(conflicts)") }
            return
        }
        throw GraphProblem("\(player.name): saved in spite of conflicts of \(conflicts)")
    }

    private func rollBack(_ player: GraphPlayer, resets: Bool = false) throws {
        say("\(player.name): \(resets ? "reset" : "rollback")", count: "rollback")
        let deleted = player.context.deletedObjects
        if resets { player.context.reset() } else { player.context.rollback() }
        for object in deleted { player.hand.keep(object) }
        // A redone object whose insertion was saved before is in the base.
        for number in player.pending.inserted where player.base.rows[number] == nil { player.hand.forget(number) }
        player.forgetChanges()
        if player !== follower { try player.checkRows() }
    }

    /// The follower saves, and `ahead` merges only that save.
    private func saveAndMerge() throws {
        nonisolated(unsafe) var notification: Notification?
        let name = chance(2) ? NSManagedObjectContext.didSaveObjectsNotification : NSManagedObjectContext.didSaveObjectIDsNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: follower.context, queue: nil) { notification = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        let (updated, deleted) = try save(follower)
        guard let notification else { return }
        // A save's notification also has the deletions that its context has merged; those objects have no number any more.
        let info = notification.userInfo ?? [:]
        let ids = info[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>
            ?? Set((info[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []).map(\.objectID))
        let gone = deleted.union(ahead.hand.objects.filter { ids.contains($0.value.objectID) && ahead.base.rows[$0.key] != nil }.keys)
        say("\(ahead.name): merges \(updated.sorted()) and without \(gone.sorted())", count: "merge")
        ahead.context.mergeChanges(fromContextDidSave: notification)
        for number in gone {
            ahead.base.rows[number] = nil
            ahead.shown.rows[number] = nil
            ahead.hand.forget(number)
        }
        ahead.rebase(updated.filter { ahead.base.rows[$0] != nil }, on: store)
        try ahead.checkRows()
    }

    private func refreshOne() throws {
        let numbers = ahead.shown.rows.keys.filter { ahead.base.rows[$0] != nil && store.state.rows[$0] != nil }.sorted()
        guard let number = numbers.randomElement(using: &random), let object = ahead.hand.objects[number] else { return }
        let isHeld = child.closed.union(child.pending.all).union(ahead.closed).contains(number)
        let isLinked = ahead.pending.owners.union(ahead.pending.targets).contains(number)
        let keepsChanges = isHeld || isLinked || chance(2)
        say("\(ahead.name): refreshes \(number)\(keepsChanges ? "" : " and drops its changes")", count: "refresh")
        ahead.context.refresh(object, mergeChanges: keepsChanges)
        if !keepsChanges { ahead.shown.rows[number] = ahead.base.rows[number] }
        ahead.rebase([number], on: store)
        try ahead.checkRows()
    }

    /// The follower changes and saves objects that `ahead` has changed.
    private func collide() throws {
        try editAttribute(follower, among: ahead.pending.attributes)
        try save(follower)
        if chance(2) { try save(ahead) }
    }

    // MARK: The second process

    private func stepPartner() throws {
        guard let partner else { return }
        var state = store.state
        var edits: [GraphEdit] = []
        for _ in 0..<4 {
            guard let edit = chance(2) ? someAttribute(state) : someEdit(state), isAllowed(edit, state, by: nil) else { continue }
            edits.append(edit)
            state.apply(edit)
        }
        say("the second process: \(edits)", count: "process")
        _ = try partner.ask(.commit(edits))
        store.commit(state)
        // Before a context of this process has read the commit.
        if chance(2) { try save(chance(2) ? ahead : follower) }
    }

    // MARK: Running

    func step() throws {
        stepNumber += 1
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<3:
            try bringUp()
            for _ in 0..<3 { try edit(ahead) }
            try ahead.check(&random)
        case 3..<5:
            for _ in 0..<2 { try editAttribute(ahead) }
            try ahead.checkRows()
            if chance(2) { try collide() }
        case 5..<8: for _ in 0..<3 { try edit(follower) }
        case 8..<12: try stepChild()
        case 12..<14:
            // Half of the time the follower has pending changes of the objects that the other process then changes.
            if chance(2) { try editAttribute(follower) }
            try stepPartner()
        case 14: try save(ahead)
        case 15: try save(follower)
        case 16: try saveAndMerge()
        case 17: try refreshOne()
        case 18 where chance(2): try rollBack(follower, resets: chance(2))
        case 18 where child.pending.all.isEmpty && child.closed.isEmpty: try rollBack(ahead)
        default:
            try bringUpChild()
            try ahead.check(&random)
            try child.check(&random)
        }
        try settle()
        if stepNumber % 4 == 0 { try history.check(store.state) }
        if stepNumber % 8 == 0 { try checkStore() }
        if stepNumber % 16 == 0 { try checkPartner() }
    }

    /// Other differences, collected after a failure.
    func otherFailures() -> String {
        let checks: [() throws -> Void] = [
            { try self.ahead.check(&self.random) }, { try self.child.check(&self.random) }, bringUpChild,
            { try self.ahead.check(&self.random) }, { try self.child.check(&self.random) }, settle, checkStore, checkPartner,
        ]
        let failures = checks.compactMap { check -> String? in
            do { try check() } catch { return "\(error)" }
            return nil
        }
        return failures.joined(separator: "\n")
    }

    /// Saves everything, and opens the file again.
    func finish() throws {
        try bringUpChild()
        try undoAndRedo()
        try saveChild()
        try save(ahead)
        try settle()
        try save(follower)
        try settle()
        try bringUpChild()
        try checkStore()
        try checkPartner()
        try history.check(store.state)
        guard let url else { return }
        let reopened = try GraphHand.coordinator(NSRecordLogStoreType, at: url)
        let reader = GraphPlayer("the store opened anew", GraphHand.context(reopened))
        reader.shown = store.state
        try reader.check(&random)
        for store in reopened.persistentStores { try reopened.remove(store) }
    }
}

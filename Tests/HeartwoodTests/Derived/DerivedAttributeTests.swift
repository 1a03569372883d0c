import Foundation
import Testing

@testable import Heartwood

@Suite struct DerivedAttributeTests {
    private static func club(_ stack: TestStack, members: Int = 3) throws -> (club: NSManagedObject, members: [NSManagedObject]) {
        let club = stack.insert("Club", ["name": "Café Log"])
        let list = (0..<members).map { stack.insert($0 == 0 ? "Captain" : "Member", ["name": "m\($0)", "dues": $0 + 1, "club": club]) }
        try stack.context.save()
        return (club, list)
    }

    private static func whole(_ object: NSManagedObject, _ key: String) -> Int? { object.value(forKey: key) as? Int }
    private static func text(_ object: NSManagedObject, _ key: String) -> String? { object.value(forKey: key) as? String }

    @Test(arguments: StoreKind.deriving)
    func `A save computes derived attributes and its objects show them`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let before = Date()
        let (club, members) = try Self.club(stack)
        #expect(Self.text(club, "search") == "cafe log" && Self.whole(club, "memberCount") == 3 && Self.whole(club, "dues") == 6)
        #expect(members.map { Self.text($0, "upper") } == ["M0", "M1", "M2"])
        #expect(members.allSatisfy { Self.text($0, "clubName") == "Café Log" && Self.text($0, "regionName") == nil })
        let touched = try #require(members[0].value(forKey: "touched") as? Date)
        #expect(touched >= before && touched <= Date())
        // They keep their values until a save, which replaces a value that code has set.
        club.setValue("Bar", forKey: "name")
        club.setValue(77, forKey: "memberCount")
        #expect(Self.text(club, "search") == "cafe log" && Self.whole(club, "memberCount") == 77)
        try stack.context.save()
        #expect(Self.text(club, "search") == "bar" && Self.whole(club, "memberCount") == 3 && !stack.context.hasChanges)
        #expect(members.allSatisfy { Self.text($0, "clubName") == "Bar" }, "objects that the save did not write show it too")
        #expect(members[0].value(forKey: "touched") as? Date == touched, "now() is when the object itself was written")
        let fresh = try #require(try stack.fetch("Member", "name == 'm0'", in: stack.anew()).first)
        #expect(Self.text(fresh, "clubName") == "Bar" && fresh.value(forKey: "touched") as? Date == touched)
    }

    @Test(arguments: StoreKind.deriving)
    func `Derived attributes count and sum members that are added, removed and changed`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, members) = try Self.club(stack), other = stack.insert("Club", ["name": "Other"])
        let tag = stack.insert("Tag", ["name": "t", "members": NSSet(array: members)])
        club.mutableOrderedSetValue(forKey: "queue").addObjects(from: members)
        for (index, member) in members.enumerated() { member.setValue(Double(index) + 0.5, forKey: "height") }
        try stack.context.save()
        #expect(Self.whole(tag, "use") == 3 && tag.value(forKey: "dues") as? NSDecimalNumber == 6)
        #expect(club.value(forKey: "height") as? Double == 4.5 && Self.whole(club, "queueCount") == 3)
        members[0].setValue(10, forKey: "dues")
        try stack.context.save()
        #expect(Self.whole(club, "dues") == 15 && Self.whole(tag, "dues") == 15)
        members[1].setValue(other, forKey: "club")
        club.mutableOrderedSetValue(forKey: "queue").moveObjects(at: [2], to: 0)
        tag.mutableSetValue(forKey: "members").remove(members[0])
        try stack.context.save()
        #expect(Self.whole(club, "memberCount") == 2 && Self.whole(club, "dues") == 13)
        #expect(Self.whole(other, "memberCount") == 1 && Self.whole(other, "dues") == 2 && Self.text(members[1], "clubName") == "Other")
        #expect(Self.whole(tag, "use") == 2 && Self.whole(tag, "dues") == 5 && club.value(forKey: "height") as? Double == 4.5)
        stack.context.delete(members[2])
        stack.context.delete(other)
        try stack.context.save()
        #expect(Self.whole(club, "memberCount") == 1 && Self.whole(club, "dues") == 10 && Self.whole(tag, "use") == 1)
        #expect(Self.text(members[1], "clubName") == nil && Self.whole(club, "queueCount") == 2)
        #expect(club.value(forKey: "height") as? Double == 2)
    }

    @Test(arguments: StoreKind.deriving)
    func `Attributes derived from derived attributes follow over several steps`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, members) = try Self.club(stack)
        let region = stack.insert("Region", ["name": "NORTH", "clubs": NSSet(object: club)])
        try stack.context.save()
        #expect(Self.whole(region, "dues") == 6 && Self.whole(region, "clubCount") == 1)
        #expect(members.allSatisfy { Self.text($0, "regionName") == "north" })
        members[2].setValue(30, forKey: "dues")
        region.setValue("SOUTH", forKey: "name")
        try stack.context.save()
        #expect(Self.whole(region, "dues") == 33 && members.allSatisfy { Self.text($0, "regionName") == "south" })
    }

    @Test(arguments: StoreKind.deriving)
    func `Fetches use derived attributes and their indexes`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        for index in 0..<50 {
            let club = stack.insert("Club", ["name": "Ü\(index)"])
            for _ in 0..<(index % 10) { stack.insert("Member", ["club": club]) }
        }
        try stack.context.save()
        let full = try stack.fetch("Club", "memberCount > 7", sort: [NSSortDescriptor(key: "search", ascending: true)])
        #expect(full.map { Self.text($0, "search") } == ["u18", "u19", "u28", "u29", "u38", "u39", "u48", "u49", "u8", "u9"])
        let isPlanned = StoreKind.planning.contains(kind)
        #expect(!isPlanned || stack.context.lastQueryDescription.contains("byCount"))
        #expect(try stack.fetch("Club", "search == 'u42'").count == 1)
        #expect(!isPlanned || stack.context.lastQueryDescription.contains("bySearch"))
    }

    @Test(arguments: StoreKind.deriving.filter { $0 != .binary && $0 != .atomic })
    func `Batch requests keep derived attributes up to date`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, _) = try Self.club(stack)
        let region = stack.insert("Region", ["name": "N"])
        try stack.context.save()
        _ = try stack.updateBatch("Club", nil, ["region": region.objectID, "name": "Né"])
        try stack.insertBatch([["name": "ä", "dues": 100, "upper": "no", "touched": Date.distantPast]], into: "Member")
        _ = try stack.updateBatch("Member", "name == 'ä'", ["club": club.objectID, "clubName": "set by hand"])
        func fresh(_ entity: String, _ format: String? = nil) throws -> NSManagedObject {
            try #require(try stack.fetch(entity, format, in: stack.anew()).first)
        }
        let added = try fresh("Member", "name == 'ä'")
        #expect(Self.text(added, "upper") == "Ä" && Self.text(added, "clubName") == "Né" && Self.text(added, "regionName") == "n")
        #expect(try #require(added.value(forKey: "touched") as? Date) > Date(timeIntervalSinceNow: -3600))
        #expect(try Self.whole(fresh("Club"), "memberCount") == 4 && Self.whole(fresh("Club"), "dues") == 106)
        #expect(try Self.whole(fresh("Region"), "dues") == 106 && Self.text(fresh("Club"), "search") == "ne")
        _ = try stack.updateBatch("Member", "dues < 3", ["dues": 0])
        _ = try stack.deleteBatch("Member", "name == 'm2'")
        #expect(try Self.whole(fresh("Club"), "memberCount") == 3 && Self.whole(fresh("Region"), "dues") == 100)
        _ = try stack.deleteBatch("Club")
        #expect(try Self.text(fresh("Member", "name == 'ä'"), "clubName") == nil && Self.whole(fresh("Region"), "clubCount") == 0)
    }

    @Test(arguments: StoreKind.deriving.filter(\.isFile))
    func `Derived attributes are kept when a store is opened again`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, members) = try Self.club(stack)
        stack.insert("Region", ["name": "North", "clubs": NSSet(object: club)])
        try stack.context.save()
        let touched = try #require(members[0].value(forKey: "touched") as? Date)
        let again = try TestStack(kind, model: ClubModel.make(), at: stack.url)
        let read = try #require(try again.fetch("Club").first), region = try #require(try again.fetch("Region").first)
        #expect(Self.text(read, "search") == "cafe log" && Self.whole(read, "memberCount") == 3 && Self.whole(read, "dues") == 6)
        #expect(Self.whole(region, "dues") == 6 && Self.whole(region, "clubCount") == 1)
        let member = try #require(try again.fetch("Member", "name == 'm0'").first)
        #expect(Self.text(member, "clubName") == "Café Log" && Self.text(member, "regionName") == "north")
        #expect(member.value(forKey: "touched") as? Date == touched, "opening is no change")
        again.context.delete(member)
        try again.context.save()
        #expect(Self.whole(read, "memberCount") == 2 && Self.whole(region, "dues") == 5)
    }

    @Test(arguments: StoreKind.deriving)
    func `A value derived by another context's save is no conflict`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, members) = try Self.club(stack)
        let other = stack.newContext()
        let theirs = try #require(try stack.fetch("Club", in: other).first), count = Self.whole(theirs, "memberCount")
        stack.insert("Member", ["club": club, "dues": 4])
        try stack.context.save()
        #expect(count == 3 && Self.whole(theirs, "memberCount") == 3, "it shows what it has read")
        theirs.setValue("Renamed", forKey: "name")
        try other.save()
        #expect(Self.whole(theirs, "memberCount") == 4)
        // A change of any other attribute is a conflict.
        club.setValue("Mine", forKey: "name")
        let error = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(error?.code == NSManagedObjectMergeError)
        stack.context.rollback()
        stack.context.refreshAllObjects()
        #expect(Self.text(club, "name") == "Renamed" && members.allSatisfy { Self.text($0, "clubName") == "Renamed" })
    }

    @Test(arguments: StoreKind.deriving)
    func `Contexts that merge a save show its derived values`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, _) = try Self.club(stack)
        let follower = stack.newContext(), listener = stack.newContext()
        follower.automaticallyMergesChangesFromParent = true
        let followed = try #require(try stack.fetch("Club", in: follower).first)
        let told = try #require(try stack.fetch("Club", in: listener).first)
        #expect(Self.whole(followed, "memberCount") == 3 && Self.whole(told, "memberCount") == 3)
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: stack.context, queue: nil) {
            listener.mergeChanges(fromContextDidSave: $0)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let member = try #require(try stack.fetch("Member", "name == 'm1'").first)
        stack.context.delete(member)
        try stack.context.save()
        #expect(Self.whole(club, "memberCount") == 2 && Self.whole(followed, "memberCount") == 2 && Self.whole(told, "memberCount") == 2)
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Entities without derivations cost nothing`(kind: StoreKind) throws {
        let plain = try TestStack(kind), stack = try TestStack(kind, model: ClubModel.make())
        #expect(try plain.store.loaded().schema.derivations == nil)
        let (club, _) = try Self.club(stack, members: 100)
        let region = stack.insert("Region", ["name": "R"])
        try stack.context.save()
        let reads = stack.rowReads, appended = stack.bytesAppended
        region.setValue("S", forKey: "name")
        try stack.context.save()
        #expect(stack.rowReads - reads < 10, "no club is in it, so none is read")
        #expect(stack.bytesAppended - appended < 600)
        let before = stack.rowReads
        club.setValue("T", forKey: "name")
        try stack.context.save()
        #expect(stack.rowReads - before > 100, "each member has the club's name")
    }

    @Test(arguments: StoreKind.deriving)
    func `A derived value that does not fit refuses the save`(kind: StoreKind) throws {
        let small = ClubModel.derived("small", .integer16AttributeType, "members.@sum.dues")
        let stack = try TestStack(kind, model: ClubModel.make { $0["Club"]!.properties.append(small) })
        let (club, members) = try Self.club(stack)
        members[0].setValue(40_000, forKey: "dues")
        let error = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(error?.code == NSValidationNumberTooLargeError && error?.localizedDescription.contains("Club.small") == true)
        members[0].setValue(30_000, forKey: "dues")
        try stack.context.save()
        #expect(Self.whole(club, "small") == 30_005)
    }

    @Test(arguments: StoreKind.deriving)
    func `An undone deletion counts again`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ClubModel.make())
        let (club, members) = try Self.club(stack)
        let manager = UndoManager()
        manager.groupsByEvent = false
        stack.context.undoManager = manager
        manager.beginUndoGrouping()
        stack.context.delete(members[2])
        stack.context.delete(club)
        manager.endUndoGrouping()
        try stack.context.save()
        #expect(Self.text(members[0], "clubName") == nil)
        stack.context.undo()
        try stack.context.save()
        #expect(Self.whole(club, "memberCount") == 3 && Self.whole(club, "dues") == 6 && Self.text(members[2], "clubName") == "Café Log")
    }

    @Test(arguments: StoreKind.deriving)
    func `A model file can state derivations`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try ModelTests.load("""
            <entity name="List">
              <attribute name="title" attributeType="String" defaultValueString="Á"/>
              <attribute name="size" optional="YES" attributeType="Integer 16" derived="YES" derivationExpression="items.@count"/>
              <attribute name="key" attributeType="String" derived="YES" derivationExpression="canonical:(title)"/>
              <relationship name="items" optional="YES" toMany="YES" destinationEntity="Item" inverseName="list" inverseEntity="Item"/>
            </entity>
            <entity name="Item">
              <relationship name="list" optional="YES" maxCount="1" destinationEntity="List" inverseName="items" inverseEntity="List"/>
            </entity>
            """))
        let list = stack.insert("List", [:])
        for _ in 0..<3 { stack.insert("Item", ["list": list]) }
        try stack.context.save()
        #expect(Self.whole(list, "size") == 3 && Self.text(list, "key") == "a", "a required one need not be set")
    }
}

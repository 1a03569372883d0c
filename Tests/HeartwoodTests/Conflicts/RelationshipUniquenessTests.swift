import Foundation
import Testing

@testable import Heartwood

/// Uniqueness constraints that have a to-one relationship among their properties, as real models do.
@Suite struct RelationshipUniquenessTests {
    private static func model() throws -> NSManagedObjectModel {
        try ModelTests.load(
            """
            <entity name="Message"><attribute name="text" optional="YES" attributeType="String"/>
              <relationship name="reactions" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Reaction" inverseName="message" inverseEntity="Reaction"/>
            </entity>
            <entity name="Reaction"><attribute name="sign" optional="YES" attributeType="String"/>
              <relationship name="message" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Message" inverseName="reactions" inverseEntity="Message"/>
              <uniquenessConstraints><uniquenessConstraint><constraint value="sign"/><constraint value="message"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            """)
    }

    private func signs(_ message: NSManagedObject) -> Int { (message.value(forKey: "reactions") as? NSSet)?.count ?? -1 }

    @Test(arguments: StoreKind.allCases)
    func `Two objects that lead to one object conflict, saved or not; those that lead to none do not`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try Self.model())
        let first = stack.insert("Message", ["text": "a"]), second = stack.insert("Message", ["text": "b"])
        for message in [first, second] { stack.insert("Reaction", ["sign": "+", "message": message]) }
        for _ in 0..<2 { stack.insert("Reaction", ["sign": "+"]) }
        try stack.context.save()
        let again = stack.insert("Reaction", ["sign": "+", "message": first])
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        let found = try #require((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
        #expect(error?.code == NSManagedObjectConstraintMergeError && found.constraint == ["sign", "message"])
        #expect(found.conflictingObjects == [again] && found.databaseObject?.value(forKey: "message") as? NSManagedObject === first)
        again.setValue("-", forKey: "sign")
        try stack.context.save()
        // Neither the message nor its reactions have a row.
        let third = stack.insert("Message", ["text": "c"])
        let pair = (0..<2).map { _ in stack.insert("Reaction", ["sign": "+", "message": third]) }
        #expect(throws: NSError.self) { try stack.context.save() }
        stack.context.delete(pair[0])
        try stack.context.save()
        #expect([first, second, third].map(signs) == [2, 1, 1])
        // Values that a deletion or another change releases are free.
        stack.context.delete(pair[1])
        stack.insert("Reaction", ["sign": "+", "message": third])
        try stack.context.save()
        #expect(try stack.fetch("Reaction", in: stack.newContext()).count == 6)
    }

    @Test(arguments: StoreKind.allCases)
    func `An insertion becomes an update of the row that leads to the object`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try Self.model())
        let message = stack.insert("Message", ["text": "a"])
        stack.insert("Reaction", ["sign": "+", "message": message])
        try stack.context.save()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        stack.insert("Reaction", ["sign": "+", "message": message])
        try stack.context.save()
        #expect(signs(message) == 1)
        #expect(try stack.fetch("Reaction", in: stack.newContext()).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `If the store wins, a change of the relationship is undone on both sides`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try Self.model())
        let first = stack.insert("Message", ["text": "a"]), second = stack.insert("Message", ["text": "b"])
        stack.insert("Reaction", ["sign": "+", "message": first])
        let moved = stack.insert("Reaction", ["sign": "+", "message": second])
        try stack.context.save()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        moved.setValue(first, forKey: "message")
        try stack.context.save()
        #expect(moved.value(forKey: "message") as? NSManagedObject === second && signs(first) == 1 && signs(second) == 1)
        let context = stack.newContext()
        #expect(try stack.fetch("Message", in: context).map(signs) == [1, 1])
    }

    @Test
    func `A store that gets such a constraint is migrated where it holds, and refused where it does not`() throws {
        let old = try Self.model(), new = try Self.model()
        old.entitiesByName["Reaction"]?.uniquenessConstraints = []
        for isUnique in [true, false] {
            let chain = try Chain()
            try chain.with(old) { context in
                let messages = (0..<2).map { _ in context.make("Message") }
                for index in 0..<2 {
                    let reaction = context.make("Reaction")
                    reaction.setValue("+", forKey: "sign")
                    reaction.setValue(messages[isUnique ? index : 0], forKey: "message")
                }
            }
            if isUnique {
                try chain.with(new) { context in
                    let messages = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Message"))
                    let reaction = context.make("Reaction")
                    reaction.setValue("+", forKey: "sign")
                    reaction.setValue(messages[0], forKey: "message")
                    #expect(throws: NSError.self) { try context.save() }
                    context.rollback()
                }
            } else {
                let error = #expect(throws: NSError.self) { try chain.with(new) { _ in } }
                #expect(
                    error?.localizedDescription.contains("sign, message") == true
                        || (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription.contains("sign, message") == true)
            }
        }
    }

    @Test
    func `A to-many relationship cannot be unique`() throws {
        let error = #expect(throws: (any Error).self) {
            try ModelTests.load(
                """
                <entity name="A"><relationship name="r" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="A"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="r"/></uniquenessConstraint></uniquenessConstraints></entity>
                """)
        } as? NSError
        #expect(error?.localizedDescription.contains("neither an attribute nor a to-one relationship") == true)
    }
}

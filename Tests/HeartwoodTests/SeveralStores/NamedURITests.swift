import Foundation
import Testing

@testable import Heartwood

/// An entity may have any name, and the URI of an object leads back to it.
@Suite struct NamedURITests {
    private static let names = [
        "A/B", "/", "//", "A/", "/A", "A B", " ", "100%", "%2F", "%", "A%20B", "it's", "\"A\"", "Ä", "日本", "e\u{301}", "😀", "A?b=c", "#1", "A#", "?",
        "A:B", "A;B", "A@B", "A&B", "[A]", "{A}", "A\\B", "A|B", "A^B", "`A`", "<A>", "A+B", "A=B", ".", "..", "...", "A.B", "p1", "t1", "\t", "A\nB",
        "\u{0}", "\u{202E}", "~",
    ]

    private static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = names.map { name in
            let entity = NSEntityDescription(), text = NSAttributeDescription()
            (entity.name, text.name, text.attributeType) = (name, "text", .stringAttributeType)
            entity.properties = [text]
            return entity
        }
        return model
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `The URI of an object leads back whatever the entity's name`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        for name in Self.names { stack.insert(name, ["text": name]) }
        try stack.context.save()
        for name in Self.names {
            let id = try #require(try stack.fetch(name).first).objectID, uri = id.uriRepresentation()
            #expect(uri.scheme == "x-coredata", "\(name)")
            let found = stack.coordinator.managedObjectID(forURIRepresentation: uri)
            #expect(found == id, "\(name): \(uri)")
            #expect(stack.coordinator.managedObjectID(for: uri.absoluteString) == id, "\(name): \(uri)")
            // As a program keeps it.
            let kept = try JSONDecoder().decode([URL].self, from: JSONEncoder().encode([uri]))[0]
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: kept) == id, "\(name): \(uri)")
            if let found { #expect(try stack.anew().existingObject(with: found).value(forKey: "text") as? String == name) }
        }
    }
}

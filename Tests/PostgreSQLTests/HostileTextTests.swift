import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// Names and values that would be SQL if they were put into statements as they are.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct HostileTextTests {
    private static let texts = [
        "'; DROP TABLE x; --", "\"quoted\"", "back\\slash", "$$dollar$$", "$1", "%s", "a\nb\tc", "{1,2}", "NULL", "", "\u{1F600}",
        String(repeating: "long", count: 40),
    ]

    private static func model() -> NSManagedObjectModel {
        let entities = texts.enumerated().filter { !$1.isEmpty }.map { index, text in
            let entity = NSEntityDescription()
            entity.name = text
            entity.properties = ["\(text)1", "\(text)\(text)", "xmin", "_id"].map { ServerModel.attribute($0, .stringAttributeType) }
            entity.uniquenessConstraints = [["\(text)1"]]
            return entity
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    @Test
    func `Names and values of quotes, backslashes and dollar signs stay what they are`() throws {
        let model = Self.model(), stack = try ServerStack(model), context = stack.context
        try context.performAndWait {
            for entity in model.entities {
                for text in Self.texts {
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                    for name in entity.attributesByName.keys { object.setValue(text, forKey: name) }
                }
            }
            try context.save()
        }
        let reader = stack.newContext()
        try reader.performAndWait {
            for entity in model.entities {
                let name = "\(entity.name ?? "")1"
                for text in Self.texts {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                    request.predicate = NSPredicate(format: "%K == %@ AND xmin BEGINSWITH %@", name, text, text)
                    request.sortDescriptors = [NSSortDescriptor(key: "xmin", ascending: true)]
                    let found = try reader.fetch(request).filter { $0.value(forKey: name) as? String == text }
                    #expect(found.count == 1)
                    #expect(found.first?.value(forKey: "_id") as? String == text)
                }
            }
        }
    }

    @Test
    func `A text with U+0000 and a number that is none are refused, and the context goes on`() throws {
        let stack = try ServerStack(ServerModel.make()), context = stack.context
        try context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            for (key, value) in [("title", "a\0b"), ("rating", Double.nan)] as [(String, Any)] {
                book.setValue(value, forKey: key)
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.code == NSManagedObjectValidationError)
                #expect(error?.localizedDescription.contains("Book.\(key)") == true)
                book.setValue(nil, forKey: key)
            }
            book.setValue("Emma", forKey: "title")
            try context.save()
            #expect(!book.hasChanges)
        }
    }
}

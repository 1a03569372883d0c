import Foundation

@testable import Heartwood

/// A model of notes with text indexes.
enum NoteStack {
    /// - Parameter isIndexed: whether the attributes have text indexes.
    static func model(isIndexed: Bool = true, partial: String? = nil) -> NSManagedObjectModel {
        let note = NSEntityDescription(), memo = NSEntityDescription()
        (note.name, memo.name) = ("Note", "Memo")
        let text = TestStack.attribute("text", .stringAttributeType), title = TestStack.attribute("title", .stringAttributeType)
        let number = TestStack.attribute("number", .integer64AttributeType)
        note.properties = [text, title, number, TestStack.attribute("name", .stringAttributeType)]
        memo.properties = [TestStack.attribute("memo", .stringAttributeType)]
        note.subentities = [memo]
        if isIndexed { note.indexes = indexes(of: note, partial: partial) }
        let model = NSManagedObjectModel()
        model.entities = [note, memo]
        return model
    }

    static func indexes(of note: NSEntityDescription, partial: String? = nil) -> [NSFetchIndexDescription] {
        let properties = note.propertiesByName
        let byText = NSFetchIndexDescription(name: "byText", elements: properties["text"].map { [NSFetchIndexElementDescription(property: $0, collationType: .text)] })
        byText.partialIndexPredicate = partial.map { NSPredicate(format: $0) }
        let byName = NSFetchIndexDescription(name: "byName", elements: properties["name"].map { [NSFetchIndexElementDescription(property: $0, collationType: .binary)] })
        properties["title"]?.userInfo = ["com.heartwood.textIndex": "YES"]
        return [byText, byName]
    }

    /// The numbers of the objects that a predicate finds, ascending.
    static func numbers(_ stack: TestStack, _ predicate: NSPredicate?, limit: Int = 0, search: TextSearch? = nil, in context: NSManagedObjectContext? = nil) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = predicate
        request.fetchLimit = limit
        request.textSearch = search
        return try (context ?? stack.context).fetch(request).map { $0.value(forKey: "number") as? Int ?? -1 }
    }
}

// Made by heartwood generate. Changes are lost when it runs again.

import Foundation
@_spi(GeneratedCode) import Heartwood

private let propertiesOfBook = ManagedProperties(
    "copies",
    "cover",
    "default",
    "edition",
    "isInPrint",
    "isbn",
    "pages",
    "price",
    "rating",
    "shelf",
    "site",
    "tags",
    "weight",
    "chapters")

extension Book {
    public class func fetchRequest() -> NSFetchRequest<Book> {
        NSFetchRequest<Book>(entityName: "Book")
    }

    public var copies: NSNumber? {
        get { managedAttribute(at: propertyIndex(0, of: propertiesOfBook)) as? NSNumber }
        set { setManagedAttribute(newValue, at: propertyIndex(0, of: propertiesOfBook)) }
    }

    public var cover: Data? {
        get { managedAttribute(at: propertyIndex(1, of: propertiesOfBook)) as? Data }
        set { setManagedAttribute(newValue, at: propertyIndex(1, of: propertiesOfBook)) }
    }

    public var `default`: String? {
        get { managedString(at: propertyIndex(2, of: propertiesOfBook)) }
        set { setManagedString(newValue, at: propertyIndex(2, of: propertiesOfBook)) }
    }

    public var edition: Int32 {
        get { Int32(truncatingIfNeeded: managedInteger(at: propertyIndex(3, of: propertiesOfBook)) ?? 0) }
        set { setManagedInteger(Int64(newValue), at: propertyIndex(3, of: propertiesOfBook)) }
    }

    public var isInPrint: Bool {
        get { managedBool(at: propertyIndex(4, of: propertiesOfBook)) ?? false }
        set { setManagedInteger(newValue ? 1 : 0, at: propertyIndex(4, of: propertiesOfBook)) }
    }

    public var isbn: UUID? {
        get { managedAttribute(at: propertyIndex(5, of: propertiesOfBook)) as? UUID }
        set { setManagedAttribute(newValue, at: propertyIndex(5, of: propertiesOfBook)) }
    }

    public var pages: Int64 {
        get { managedInteger(at: propertyIndex(6, of: propertiesOfBook)) ?? 0 }
        set { setManagedInteger(newValue, at: propertyIndex(6, of: propertiesOfBook)) }
    }

    public var price: NSDecimalNumber? {
        get { managedAttribute(at: propertyIndex(7, of: propertiesOfBook)) as? NSDecimalNumber }
        set { setManagedAttribute(newValue, at: propertyIndex(7, of: propertiesOfBook)) }
    }

    public var rating: Double {
        get { managedDouble(at: propertyIndex(8, of: propertiesOfBook)) ?? 0 }
        set { setManagedDouble(newValue, at: propertyIndex(8, of: propertiesOfBook)) }
    }

    public var shelf: Int16 {
        get { Int16(truncatingIfNeeded: managedInteger(at: propertyIndex(9, of: propertiesOfBook)) ?? 0) }
        set { setManagedInteger(Int64(newValue), at: propertyIndex(9, of: propertiesOfBook)) }
    }

    public var site: URL? {
        get { managedAttribute(at: propertyIndex(10, of: propertiesOfBook)) as? URL }
        set { setManagedAttribute(newValue, at: propertyIndex(10, of: propertiesOfBook)) }
    }

    public var tags: NSArray? {
        get { managedAttribute(at: propertyIndex(11, of: propertiesOfBook)) as? NSArray }
        set { setManagedAttribute(newValue, at: propertyIndex(11, of: propertiesOfBook)) }
    }

    public var weight: Float {
        get { Float(managedDouble(at: propertyIndex(12, of: propertiesOfBook)) ?? 0) }
        set { setManagedDouble(Double(newValue), at: propertyIndex(12, of: propertiesOfBook)) }
    }

    public var chapters: NSOrderedSet? {
        get { NSOrderedSet(array: managedObjects(at: propertyIndex(13, of: propertiesOfBook))) }
        set { setManagedObjects(newValue?.array as? [NSManagedObject] ?? [], at: propertyIndex(13, of: propertiesOfBook)) }
    }
}

// MARK: Generated accessors for chapters
extension Book {
    public func insertIntoChapters(_ value: Chapter, at idx: Int) {
        insertManagedObject(value, atPosition: idx, at: propertyIndex(13, of: propertiesOfBook))
    }

    public func removeFromChapters(at idx: Int) {
        removeManagedObjects(atPositions: IndexSet(integer: idx), at: propertyIndex(13, of: propertiesOfBook))
    }

    public func insertIntoChapters(_ values: [Chapter], at indexes: NSIndexSet) {
        insertManagedObjects(values, atPositions: IndexSet(indexes.map(\.self)), at: propertyIndex(13, of: propertiesOfBook))
    }

    public func removeFromChapters(at indexes: NSIndexSet) {
        removeManagedObjects(atPositions: IndexSet(indexes.map(\.self)), at: propertyIndex(13, of: propertiesOfBook))
    }

    public func replaceChapters(at idx: Int, with value: Chapter) {
        replaceManagedObject(atPosition: idx, with: value, at: propertyIndex(13, of: propertiesOfBook))
    }

    public func replaceChapters(at indexes: NSIndexSet, with values: [Chapter]) {
        replaceManagedObjects(atPositions: IndexSet(indexes.map(\.self)), with: values, at: propertyIndex(13, of: propertiesOfBook))
    }

    public func addToChapters(_ value: Chapter) {
        addManagedObject(value, at: propertyIndex(13, of: propertiesOfBook))
    }

    public func removeFromChapters(_ value: Chapter) {
        removeManagedObject(value, at: propertyIndex(13, of: propertiesOfBook))
    }

    public func addToChapters(_ values: NSOrderedSet) {
        addManagedObjects(values.array as? [NSManagedObject] ?? [], at: propertyIndex(13, of: propertiesOfBook))
    }

    public func removeFromChapters(_ values: NSOrderedSet) {
        removeManagedObjects(values.array as? [NSManagedObject] ?? [], at: propertyIndex(13, of: propertiesOfBook))
    }
}

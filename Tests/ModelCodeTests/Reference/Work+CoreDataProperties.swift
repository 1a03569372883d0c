// Made by heartwood generate. Changes are lost when it runs again.

import Foundation
@_spi(GeneratedCode) import Heartwood

private let propertiesOfWork = ManagedProperties(
    "madeOn",
    "title",
    "authors")

extension Work {
    public class func fetchRequest() -> NSFetchRequest<Work> {
        NSFetchRequest<Work>(entityName: "Work")
    }

    public var madeOn: Date? {
        get { managedDate(at: propertyIndex(0, of: propertiesOfWork)) }
        set { setManagedDate(newValue, at: propertyIndex(0, of: propertiesOfWork)) }
    }

    public var title: String? {
        get { managedString(at: propertyIndex(1, of: propertiesOfWork)) }
        set { setManagedString(newValue, at: propertyIndex(1, of: propertiesOfWork)) }
    }

    public var authors: NSSet? {
        get { NSSet(array: managedObjects(at: propertyIndex(2, of: propertiesOfWork))) }
        set { setManagedObjects(newValue?.allObjects as? [NSManagedObject] ?? [], at: propertyIndex(2, of: propertiesOfWork)) }
    }
}

// MARK: Generated accessors for authors
extension Work {
    public func addToAuthors(_ value: Author) {
        addManagedObject(value, at: propertyIndex(2, of: propertiesOfWork))
    }

    public func removeFromAuthors(_ value: Author) {
        removeManagedObject(value, at: propertyIndex(2, of: propertiesOfWork))
    }

    public func addToAuthors(_ values: NSSet) {
        addManagedObjects(values.allObjects as? [NSManagedObject] ?? [], at: propertyIndex(2, of: propertiesOfWork))
    }

    public func removeFromAuthors(_ values: NSSet) {
        removeManagedObjects(values.allObjects as? [NSManagedObject] ?? [], at: propertyIndex(2, of: propertiesOfWork))
    }
}

extension Work: Identifiable {}

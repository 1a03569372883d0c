// Made by heartwood generate. Changes are lost when it runs again.

import Foundation
@_spi(GeneratedCode) import Heartwood

private let propertiesOfAuthor = ManagedProperties(
    "name",
    "works")

extension Author {
    public class func fetchRequest() -> NSFetchRequest<Author> {
        NSFetchRequest<Author>(entityName: "Author")
    }

    public var name: String? {
        get { managedString(at: propertyIndex(0, of: propertiesOfAuthor)) }
        set { setManagedString(newValue, at: propertyIndex(0, of: propertiesOfAuthor)) }
    }

    public var works: NSSet? {
        get { NSSet(array: managedObjects(at: propertyIndex(1, of: propertiesOfAuthor))) }
        set { setManagedObjects(newValue?.allObjects as? [NSManagedObject] ?? [], at: propertyIndex(1, of: propertiesOfAuthor)) }
    }
}

// MARK: Generated accessors for works
extension Author {
    public func addToWorks(_ value: Work) {
        addManagedObject(value, at: propertyIndex(1, of: propertiesOfAuthor))
    }

    public func removeFromWorks(_ value: Work) {
        removeManagedObject(value, at: propertyIndex(1, of: propertiesOfAuthor))
    }

    public func addToWorks(_ values: NSSet) {
        addManagedObjects(values.allObjects as? [NSManagedObject] ?? [], at: propertyIndex(1, of: propertiesOfAuthor))
    }

    public func removeFromWorks(_ values: NSSet) {
        removeManagedObjects(values.allObjects as? [NSManagedObject] ?? [], at: propertyIndex(1, of: propertiesOfAuthor))
    }
}

extension Author: Identifiable {}

// Made by heartwood generate. Changes are lost when it runs again.

import Foundation
@_spi(GeneratedCode) import Heartwood

private let propertiesOfChapter = ManagedProperties(
    "heading",
    "book")

extension Chapter {
    public class func fetchRequest() -> NSFetchRequest<Chapter> {
        NSFetchRequest<Chapter>(entityName: "Chapter")
    }

    public var heading: String? {
        get { managedString(at: propertyIndex(0, of: propertiesOfChapter)) }
        set { setManagedString(newValue, at: propertyIndex(0, of: propertiesOfChapter)) }
    }

    public var book: Book? {
        get { uncheckedDestination(at: propertyIndex(1, of: propertiesOfChapter)) }
        set { setManagedObject(newValue, at: propertyIndex(1, of: propertiesOfChapter)) }
    }
}

extension Chapter: Identifiable {}

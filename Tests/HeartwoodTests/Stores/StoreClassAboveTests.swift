import Foundation
@testable import Heartwood
import HeartwoodSQLite
import Testing

/// Store classes that the stack finds by their names.
@Suite struct StoreClassAboveTests {
    @Test
    func `The stack finds the class of SQLite stores in another module, and lists it among the types`() throws {
        #expect(try StoreClasses.storeClass(for: NSSQLiteStoreType) == SQLiteStore.self)
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] == SQLiteStore.self)
    }

    @Test(arguments: ["HeartwoodSQLite.OtherStore", "Nowhere.SQLiteStore", "Foundation.NSObject"])
    func `A type whose class the program lacks has an error that names the product`(name: String) throws {
        let absent = StoreClassAbove(name: name, type: "Kept")
        #expect(absent.found == nil)
        let error = #expect(throws: NSError.self) { try absent.storeClass() }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreInvalidTypeError)
        let text = try #require(error?.localizedDescription)
        #expect(text.contains("\"Kept\"") && text.contains("HeartwoodCore") && text.contains("Depend on the product Heartwood"))
    }
}

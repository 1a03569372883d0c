import Foundation
import Heartwood
import HeartwoodPostgreSQL

/// Saves over two stores, each of which has one account: for each number that it reads it gives both accounts that balance and inserts a transfer in
/// each store, in one save. Then it writes `done NUMBER`, or `failed NUMBER` and why.
enum JointProcess {
    static func run(_ urls: [URL]) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BankProcess.model())
        let stores = try urls.map { url in
            try coordinator.addPersistentStore(
                ofType: url.isFileURL ? NSRecordLogStoreType : NSPostgreSQLStoreType, configurationName: nil, at: url)
        }
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        while let line = readLine(), let number = Int(line) {
            do {
                try save(number, context, stores)
                BankProcess.tell("done \(number)")
            } catch {
                context.rollback()
                BankProcess.tell("failed \(number): \(error.localizedDescription)")
            }
        }
    }

    private static func save(_ number: Int, _ context: NSManagedObjectContext, _ stores: [NSPersistentStore]) throws {
        for account in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account")) { account.setValue(number, forKey: "balance") }
        for store in stores {
            let transfer = NSEntityDescription.insertNewObject(forEntityName: "Transfer", into: context)
            transfer.setValue(number, forKey: "amount")
            context.assign(transfer, to: store)
        }
        try context.save()
    }
}

import Foundation
import Heartwood
import HeartwoodPostgreSQL

/// A separate process for tests of stores in a PostgreSQL database: `heartwood-postgresql-testprocess URL SEED`. It moves money between the accounts
/// of a bank until its input ends, and writes a line for each transfer: `done ID` once it is saved, `failed ID` where the save threw, and `unknown
/// ID` where the save said that its outcome is unknown. `heartwood-postgresql-testprocess joint URL URL` saves over two stores (`JointProcess`).
@main
package struct BankProcess {
    /// Accounts with a balance, and the transfers between them.
    package static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        let account = NSEntityDescription(), transfer = NSEntityDescription()
        (account.name, transfer.name) = ("Account", "Transfer")
        account.properties = [attribute("number", .integer64AttributeType), attribute("balance", .integer64AttributeType)]
        account.uniquenessConstraints = [["number"]]
        transfer.properties = [
            attribute("id", .UUIDAttributeType), attribute("from", .integer64AttributeType), attribute("to", .integer64AttributeType),
            attribute("amount", .integer64AttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [account, transfer]
        return model
    }

    static func main() throws {
        if CommandLine.arguments[1] == "joint" { return try JointProcess.run(CommandLine.arguments[2...].compactMap(URL.init(string:))) }
        guard let url = URL(string: CommandLine.arguments[1]), var state = UInt64(CommandLine.arguments[2]) else { return }
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(0)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        while true {
            do {
                try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
                break
            } catch { wait() }
        }
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        while true {
            let id = UUID()
            do {
                guard try transfer(id, in: context, &state) else { continue }
                tell("done \(id)")
            } catch {
                let isUnknown = error.localizedDescription.contains("cannot be asked")
                let isConflict = (error as NSError).code == NSManagedObjectMergeError
                context.rollback()
                context.reset()
                tell("\(isUnknown ? "unknown" : "failed") \(id)")
                // The server may be away.
                if !isConflict { wait() }
            }
        }
    }

    private static func wait() {
        // The server tells nobody that it is back.
        usleep(20_000)
    }

    /// Unbuffered: what the process has told it has told, however it ends.
    static func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func random(_ state: inout UInt64, below end: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(end))
    }

    /// - Returns: false where there is nothing to move.
    private static func transfer(_ id: UUID, in context: NSManagedObjectContext, _ state: inout UInt64) throws -> Bool {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        context.reset()
        let accounts = try context.fetch(request)
        let from = random(&state, below: accounts.count), to = random(&state, below: accounts.count)
        let balance = accounts[from].value(forKey: "balance") as? Int ?? 0
        guard from != to, balance > 0 else { return false }
        let amount = 1 + random(&state, below: min(balance, 10))
        accounts[from].setValue(balance - amount, forKey: "balance")
        accounts[to].setValue((accounts[to].value(forKey: "balance") as? Int ?? 0) + amount, forKey: "balance")
        let made = NSEntityDescription.insertNewObject(forEntityName: "Transfer", into: context)
        made.setValuesForKeys(["id": id, "from": from, "to": to, "amount": amount])
        try context.save()
        return true
    }
}

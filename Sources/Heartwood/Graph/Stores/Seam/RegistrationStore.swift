/// A store that is told which of its objects contexts have, and keeps the values that were saved as their rows.
package protocol RegistrationStore: NSPersistentStore {
    func noteRegistered(_ keys: [ObjectKey])
    func noteUnregistered(_ keys: [ObjectKey])
}

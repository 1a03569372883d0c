/// The to-many relationships of one state of a store.
package protocol RelationshipView: AnyObject {
    /// Returns the stored members of a to-many relationship, in the store's order.
    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey]

    func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int

    /// Returns the first member, in the store's order, for which `isIncluded` is true.
    /// - Complexity: O(members before it); no row is read.
    func firstMember(
        of key: ObjectKey, runtime: EntityRuntime, property: Int, where isIncluded: (ObjectKey) -> Bool
    ) throws -> ObjectKey?

    /// Whether `member` is a stored member of the relationship. One lookup.
    func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool

    /// Returns the members of one to-many relationship of several objects, in the store's order.
    /// - Parameter keys: ascending, each once.
    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]]
}

extension RelationshipView {
    package func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int {
        try members(of: key, runtime: runtime, property: property).count
    }

    package func firstMember(
        of key: ObjectKey, runtime: EntityRuntime, property: Int, where isIncluded: (ObjectKey) -> Bool
    ) throws -> ObjectKey? { try members(of: key, runtime: runtime, property: property).first(where: isIncluded) }

    package func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool {
        try members(of: key, runtime: runtime, property: property).contains(member)
    }

    package func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        try keys.map { try members(of: $0, runtime: runtime, property: property) }
    }
}

/// A function that changes a to-many relationship, as Xcode generates it.
struct MemberFunction {
    struct Parameter: Equatable {
        /// An underscore for no label.
        let label: String
        let name: String
        let type: String
    }

    let name: String
    let parameters: [Parameter]
    let body: String

    var signature: String {
        let list = parameters.map { "\($0.label) \($0.name): \($0.type)" }.joined(separator: ", ")
        return "\(name)(\(list))"
    }

    /// - Parameters:
    ///   - member: the class of the relationship's destination.
    ///   - index: the expression that gives the property's index.
    static func all(of relationship: CodeModel.Relationship, member: String, index: String) -> [MemberFunction] {
        let suffix = relationship.name.prefix(1).uppercased() + relationship.name.dropFirst()
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        let list = (relationship.isOrdered ? "values.array" : "values.allObjects") + " as? [NSManagedObject] ?? []"
        let value = Parameter(label: "_", name: "value", type: member)
        let values = Parameter(label: "_", name: "values", type: set)
        let several = Parameter(label: "_", name: "values", type: "[\(member)]")
        let at = Parameter(label: "at", name: "idx", type: "Int")
        let positions = Parameter(label: "at", name: "indexes", type: "NSIndexSet")
        func make(_ prefix: String, _ parameters: [Parameter], _ call: String) -> MemberFunction {
            MemberFunction(name: prefix + suffix, parameters: parameters, body: "\(call), at: \(index))")
        }
        func with(_ parameter: Parameter) -> Parameter { Parameter(label: "with", name: parameter.name, type: parameter.type) }
        let indexes = "atPositions: IndexSet(indexes.map(\\.self))"
        let ordered = [
            make("insertInto", [value, at], "insertManagedObject(value, atPosition: idx"),
            make("removeFrom", [at], "removeManagedObjects(atPositions: IndexSet(integer: idx)"),
            make("insertInto", [several, positions], "insertManagedObjects(values, \(indexes)"),
            make("removeFrom", [positions], "removeManagedObjects(\(indexes)"),
            make("replace", [at, with(value)], "replaceManagedObject(atPosition: idx, with: value"),
            make("replace", [positions, with(several)], "replaceManagedObjects(\(indexes), with: values"),
        ]
        return (relationship.isOrdered ? ordered : []) + [
            make("addTo", [value], "addManagedObject(value"),
            make("removeFrom", [value], "removeManagedObject(value"),
            make("addTo", [values], "addManagedObjects(\(list)"),
            make("removeFrom", [values], "removeManagedObjects(\(list)"),
        ]
    }
    /// Returns the functions that are commonly declared by hand: with a Swift set instead of Foundation's, and with names that Core Data finds in
    /// Objective-C without `@objc`, such as `addItems:` and `addItemsObject:`.
    static func writtenByHand(of relationship: CodeModel.Relationship, member: String, index: String) -> [MemberFunction] {
        let suffix = relationship.name.prefix(1).uppercased() + relationship.name.dropFirst()
        let value = Parameter(label: "_", name: "value", type: member)
        let sets = [
            ("NSSet", "values.allObjects as? [NSManagedObject] ?? []"), ("NSOrderedSet", "values.array as? [NSManagedObject] ?? []"),
            ("Set<\(member)>", "Array(values)"),
        ]
        var functions: [MemberFunction] = []
        for (verb, preposition) in [("add", "To"), ("remove", "From")] {
            let one = "\(verb)ManagedObject(value, at: \(index))"
            functions.append(MemberFunction(name: verb + suffix + "Object", parameters: [value], body: one))
            for (type, list) in sets {
                let values = Parameter(label: "_", name: "values", type: type)
                let several = "\(verb)ManagedObjects(\(list), at: \(index))"
                functions.append(MemberFunction(name: verb + suffix, parameters: [values], body: several))
                functions.append(MemberFunction(name: verb + preposition + suffix, parameters: [values], body: several))
            }
        }
        return functions
    }
}

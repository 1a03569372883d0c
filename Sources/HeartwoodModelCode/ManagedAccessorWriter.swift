import Foundation

/// Writes the accessors of `@NSManaged` properties.
///
/// Off Apple's platforms the compiler accepts the attribute and leaves the property's getter and setter undefined. The writer defines each as a
/// method of the same class with the same parameters and the accessor's linker name. Its access must be the property's: in a whole-module build
/// the compiler refuses a caller and a callee that disagree.
public struct ManagedAccessorWriter {
    public struct Source: Sendable {
        public let path: String
        public let text: String

        public init(path: String, text: String) {
            self.path = path
            self.text = text
        }
    }

    /// Extensions with accessors; empty without managed properties.
    public private(set) var text = ""
    /// Unsupported declarations, each as "path:line: error: message".
    public private(set) var problems: [String] = []
    /// Supported declarations that are probably mistakes, each as "path:line: warning: message".
    public private(set) var warnings: [String] = []
    private let module: String
    private let models: [CodeModel]
    private let resolver: TypeResolver

    /// - Parameters:
    ///   - module: the target's module, which is part of mangled names.
    ///   - models: the models whose entities use the classes.
    public init(module: String, models: [CodeModel], sources: [Source]) {
        let scans = sources.sorted { $0.path < $1.path }.map { ManagedPropertyScanner($0.text, file: $0.path, module: module) }
        let generated = models.flatMap(\.entities).filter { $0.generation == .class }.map(\.className)
        self.module = module
        self.models = models
        resolver = TypeResolver(scans.flatMap(\.types), generated: generated)
        for problem in scans.flatMap(\.problems) { report(problem.message, problem.file, problem.line) }
        for problem in scans.flatMap(\.skipped) { warn(problem.message, problem.file, problem.line) }
        let aliases = TypeAliases(scans.flatMap(\.aliases), types: resolver)
        let properties = scans.flatMap(\.properties).map { declared in
            var property = declared
            property.type = resolver.qualifying(aliases.expanding(declared.type, in: declared.owner), in: declared.owner)
            return property
        }
        let functions = scans.flatMap(\.functions).map { declared in
            var function = declared
            function.parameters = declared.parameters.map {
                .init(
                    label: $0.label, name: $0.name,
                    type: resolver.qualifying(aliases.expanding($0.type, in: declared.owner), in: declared.owner))
            }
            return function
        }
        let owners = Set(properties.map(\.owner) + functions.map(\.owner)).sorted { $0.joined(separator: ".") < $1.joined(separator: ".") }
        for owner in owners {
            write(properties.filter { $0.owner == owner }, functions.filter { $0.owner == owner }, of: owner)
        }
    }

    private mutating func report(_ message: String, _ file: String, _ line: Int) {
        problems.append("\(file):\(line): error: \(message)")
    }

    private mutating func warn(_ message: String, _ file: String, _ line: Int) {
        warnings.append("\(file):\(line): warning: \(message)")
    }

    private mutating func write(
        _ properties: [ManagedPropertyScanner.Property], _ functions: [ManagedPropertyScanner.Function], of owner: [String]
    ) {
        let name = owner.joined(separator: ".")
        let isPrivate = resolver.access(owner) == .private
        guard let path = resolver.local(owner), !isPrivate,
            (path.map(\.name) + properties.map(\.name)).allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } })
        else {
            let reason = isPrivate
                ? "\(name) is private, and accessors in another file cannot name it."
                : resolver.local(owner) == nil
                    ? "\(name) is no class of this target; move the property to its own."
                    : "the names of \(name) and its managed properties must be ASCII."
            for (file, line, member) in properties.map({ ($0.file, $0.line, $0.name) }) + functions.map({ ($0.file, $0.line, $0.name) }) {
                report("@NSManaged \(name).\(member): \(reason)", file, line)
            }
            return
        }
        let list = "managedProperties_" + owner.joined(separator: "_")
        var names: [String] = []
        var methods: [String] = []
        for property in properties.sorted(by: { $0.name < $1.name }) where !names.contains(property.name) {
            guard let body = accessor(property, position: names.count, list) else { continue }
            guard let type = resolver.resolve(property.type, in: owner, module: module) else {
                report(
                    "@NSManaged \(name).\(property.name): the type \(property.type) is not one that this target or Foundation declares as "
                        + "far as can be seen; write the accessors with value(forKey:).", property)
                continue
            }
            let file = property.access == .private ? URL(fileURLWithPath: property.file).lastPathComponent : nil
            func symbol(_ accessor: SymbolMangler.Accessor) -> String {
                SymbolMangler.symbol(module: module, path: path, property: property.name, type: type, privateIn: file, accessor)
            }
            let access = min(property.access, resolver.access(owner)) == .public ? "public" : "internal"
            let written = property.type.replacing("!", with: "?")
            methods.append(
                """
                    @_silgen_name("\(symbol(.getter))")
                    \(access) final func managedGet_\(property.name)() -> \(written) { \(body.getter) }
                    @_silgen_name("\(symbol(.setter))")
                    \(access) final func managedSet_\(property.name)(_ newValue: __owned \(written)) { \(body.setter) }
                """)
            names.append(property.name)
        }
        for function in functions {
            let siblings = properties.map(\.name)
            guard let found = memberFunction(function, position: names.count, list, siblings: siblings) else { continue }
            names.append(found.property)
            let types = function.parameters.compactMap { resolver.resolve($0.type, in: owner, module: module) }
            guard types.count == function.parameters.count else {
                report(
                    "@NSManaged \(name).\(function.name): a parameter's type is not one that can be seen here.", function.file,
                    function.line)
                continue
            }
            let symbol = SymbolMangler.symbol(
                module: module, path: path, function: function.name, parameters: Array(zip(function.parameters.map(\.label), types)),
                privateIn: function.access == .private ? URL(fileURLWithPath: function.file).lastPathComponent : nil)
            let access = min(function.access, resolver.access(owner)) == .public ? "public" : "internal"
            methods.append(
                """
                    @_silgen_name("\(symbol)")
                    \(access) final func managedCall\(methods.count)_\(found.function.signature(as: function)) { \(found.function.body) }
                """)
        }
        guard !methods.isEmpty else { return }
        let arguments = names.map { "\"\($0)\"" }.joined(separator: ", ")
        text += "private let \(list) = ManagedProperties(\(arguments))\n\nextension \(name) {\n\(methods.joined(separator: "\n\n"))\n}\n\n"
    }

    private mutating func report(_ message: String, _ property: ManagedPropertyScanner.Property) {
        report(message, property.file, property.line)
    }

    // MARK: Bodies

    /// Returns the function that Xcode generates with this name and these parameters. Reports an error and returns nil where there is none.
    /// - Parameter siblings: the class's managed properties; one may be a relationship of an entity that is described in code.
    private mutating func memberFunction(
        _ declared: ManagedPropertyScanner.Function, position: Int, _ list: String, siblings: [String]
    ) -> (function: MemberFunction, property: String)? {
        let index = "propertyIndex(\(position), of: \(list))"
        var isModelled = false
        for model in models {
            for entity in model.entities where entity.className == declared.owner.last {
                isModelled = true
                for relationship in model.lineage(of: entity).flatMap(\.relationships) where relationship.isToMany {
                    let member = model.entity(relationship.destination)?.className ?? "NSManagedObject"
                    func known(_ relationship: CodeModel.Relationship) -> MemberFunction? {
                        declared.one(of: MemberFunction.all(of: relationship, member: member, index: index))
                    }
                    if let known = known(relationship) { return (known, relationship.name) }
                    // Core Data does not check the collection's class.
                    let other = CodeModel.Relationship(
                        name: relationship.name, destination: relationship.destination, isToMany: true, isOrdered: !relationship.isOrdered,
                        line: relationship.line)
                    guard let known = known(other) else {
                        let byHand = MemberFunction.writtenByHand(of: relationship, member: member, index: index)
                        if let known = declared.one(of: byHand) { return (known, relationship.name) }
                        continue
                    }
                    warn(
                        "@NSManaged func \(declared.owner.joined(separator: ".")).\(declared.name): the model says that the relationship "
                            + "\(relationship.name) \(relationship.isOrdered ? "is" : "is not") ordered.", declared.file, declared.line)
                    return (known, relationship.name)
                }
            }
        }
        if let known = ofDescribedEntity(declared, index, siblings) {
            if isModelled {
                warn(
                    "@NSManaged func \(declared.owner.joined(separator: ".")).\(declared.name): the model has no to-many relationship "
                        + "\(known.property); a call ends the program.", declared.file, declared.line)
            }
            return known
        }
        report(
            "@NSManaged func \(declared.owner.joined(separator: ".")).\(declared.name): it is not what Xcode generates for a relationship of "
                + "the model; write its body.", declared.file, declared.line)
        return nil
    }

    /// Does the same for a class that no entity of the models names: the function's name identifies the relationship.
    private func ofDescribedEntity(
        _ declared: ManagedPropertyScanner.Function, _ index: String, _ siblings: [String]
    ) -> (function: MemberFunction, property: String)? {
        let types = declared.parameters.lazy.map { $0.type.hasPrefix("Set<") ? String($0.type.dropFirst(4)) : $0.type }
        let member = types.map { $0.filter { !"[]>".contains($0) } }.first { !Self.positionTypes.contains($0) } ?? "NSManagedObject"
        for (prefix, ending) in Self.memberFunctionNames where declared.name.hasPrefix(prefix) && declared.name.hasSuffix(ending) {
            let suffix = String(declared.name.dropFirst(prefix.count).dropLast(ending.count))
            guard !suffix.isEmpty else { continue }
            let property = siblings.first { $0.prefix(1).uppercased() + $0.dropFirst() == suffix }
                ?? suffix.prefix(1).lowercased() + suffix.dropFirst()
            for isOrdered in [false, true] {
                let relationship = CodeModel.Relationship(
                    name: property, destination: "", isToMany: true, isOrdered: isOrdered, line: declared.line)
                let all = MemberFunction.all(of: relationship, member: member, index: index)
                    + MemberFunction.writtenByHand(of: relationship, member: member, index: index)
                if let known = declared.one(of: all) { return (known, property) }
            }
        }
        return nil
    }

    private static let memberFunctionNames = [
        ("addTo", ""), ("removeFrom", ""), ("insertInto", ""), ("replace", ""), ("add", "Object"), ("remove", "Object"), ("add", ""),
        ("remove", ""),
    ]

    private static let positionTypes: Set<String> = ["Int", "NSIndexSet", "NSSet", "NSOrderedSet"]

    /// Returns the bodies of a property's accessors. Reports an error and returns nil where the type does not suit.
    private mutating func accessor(
        _ property: ManagedPropertyScanner.Property, position: Int, _ list: String
    ) -> (getter: String, setter: String)? {
        let entities = models.flatMap { model in
            model.entities.filter { $0.className == property.owner.last }.map { (model, $0) }
        }
        func has(_ model: CodeModel, _ entity: CodeModel.Entity) -> Bool {
            model.lineage(of: entity).contains { owner in
                owner.attributes.contains { $0.name == property.name } || owner.relationships.contains { $0.name == property.name }
            }
        }
        let isPrimitive = property.name.hasPrefix("primitive") && property.name.dropFirst(9).first?.isUppercase == true
        // Classes in different types, and entities of different models, may have the same name.
        guard let (model, entity) = entities.first(where: has) ?? entities.first else { return byKey(property, property.name, "value", "setValue") }
        let lineage = model.lineage(of: entity)
        if isPrimitive {
            let key = property.name.dropFirst(9).prefix(1).lowercased() + property.name.dropFirst(10)
            return byKey(property, key, "primitiveValue", "setPrimitiveValue")
        }
        let storage: AccessorType.Storage
        if let attribute = lineage.lazy.flatMap(\.attributes).first(where: { $0.name == property.name }) {
            storage = AccessorType.Storage(attribute: attribute.type)
        } else if let relationship = lineage.lazy.flatMap(\.relationships).first(where: { $0.name == property.name }) {
            storage = AccessorType.Storage(relationship)
        } else if lineage.contains(where: { $0.fetchedProperties.contains(property.name) }) {
            return byKey(property, property.name, "value", "setValue")
        } else {
            // An older version of the model may have the property.
            warn(
                "@NSManaged \(entity.className).\(property.name): the entity \(entity.name) of \(model.path) has no such property; using it "
                    + "ends the program.", property.file, property.line)
            return byKey(property, property.name, "value", "setValue")
        }
        let type = AccessorType(storage, property.type.replacing("!", with: "?"))
        let index = "propertyIndex(\(position), of: \(list))"
        guard let getter = type.getter(index), let setter = type.setter(index) else {
            report(
                "@NSManaged \(entity.className).\(property.name): the type \(property.type) does not fit the model's property.",
                property)
            return nil
        }
        if let mismatch = type.mismatch { warn("@NSManaged \(entity.className).\(property.name): \(mismatch)", property.file, property.line) }
        return (getter, setter)
    }

    /// Returns accessors that use key-value coding: for primitive values, and for classes that no entity of the models names.
    private func byKey(
        _ property: ManagedPropertyScanner.Property, _ key: String, _ get: String, _ set: String
    ) -> (getter: String, setter: String) {
        let type = AccessorType(.object, property.type.replacing("!", with: "?"))
        let scalars: [String: String] = [
            "Int16": "0", "Int32": "0", "Int64": "0", "Int": "0", "Double": "0", "Float": "0", "Bool": "false", "String": "\"\"",
        ]
        let value = "\(get)(forKey: \"\(key)\") as? \(type.base)"
        let setter = "\(set)(newValue, forKey: \"\(key)\")"
        if type.isOptional { return (value, setter) }
        if let zero = scalars[type.base] { return ("\(value) ?? \(zero)", setter) }
        return ("requiredValue(\(value), forKey: \"\(key)\")", setter)
    }
}

extension ManagedPropertyScanner.Function {
    /// Returns the function with this one's name, labels and types. The types may have their enclosing types or their module before them.
    fileprivate func one(of functions: [MemberFunction]) -> MemberFunction? {
        functions.first {
            $0.name == name && $0.parameters.map(\.label) == parameters.map(\.label)
                && $0.parameters.map { Self.short($0.type) } == parameters.map { Self.short($0.type) }
        }
    }

    private static func short(_ type: String) -> String { SwiftNames.replacingPaths(in: type, by: \.last) }
}

extension MemberFunction {
    /// The signature with the types as they are declared.
    fileprivate func signature(as declared: ManagedPropertyScanner.Function) -> String {
        let list = zip(parameters, declared.parameters).map { Parameter(label: $0.label, name: $0.name, type: $1.type) }
        return MemberFunction(name: name, parameters: list, body: body).signature
    }
}

import Foundation

extension NSPredicate {
    /// Parses a predicate format. A comparison becomes an `NSComparisonPredicate`, a compound an `NSCompoundPredicate`.
    ///
    /// An argument that does not fit (a regular expression that does not compile, an empty key, a text for a number) makes a predicate that cannot
    /// be asked: a fetch with it throws, and it holds for no object in memory.
    /// - Precondition: the format is well-formed and has as many conversions as arguments, as on Apple's platforms; the message quotes the
    ///   format and marks the position. For formats that users type, use `init(parsing:argumentArray:)`.
    public convenience init(format: String, _ args: any CVarArg...) {
        if args.count == 1, let known = FormatCache.shared.tree(format, args[0]) {
            self.init(made: NSComparisonPredicate(body: known))
        } else {
            self.init(trapping: format, args.map { $0 as Any? })
        }
    }

    /// Parses a format like `init(format:_:)`, with the arguments in an array.
    public convenience init(format: String, argumentArray arguments: [Any]?) {
        self.init(trapping: format, arguments ?? [])
    }

    #if !canImport(ObjectiveC)
        /// Parses a format with the variable arguments of a function, passed by `withVaList`. They are read by the format's conversions, as in C:
        /// `%d` takes 32 bits, `%ld` 64.
        /// Source: https://developer.apple.com/documentation/foundation/nspredicate/init(format:arguments:)
        public convenience init(format: String, arguments argList: CVaListPointer) {
            do {
                self.init(trapping: format, try CVariableArguments.read(argList, for: format))
            } catch {
                misuse("\(error)")
            }
        }
    #endif

    /// Parses a format that comes from outside the program.
    /// - Throws: an error whose description quotes the format and marks the position.
    public convenience init(parsing format: String, argumentArray arguments: [Any]? = nil) throws {
        try self.init(parsing: format, argumentArray: arguments, formats: .shared)
    }

    convenience init(parsing format: String, argumentArray arguments: [Any]?, formats: FormatCache) throws {
        self.init(made: Self.make(try PredicateParser.tree(format, arguments: arguments ?? [], formats: formats)))
    }

    /// Converts a predicate of Foundation's class, from code that does not import this one.
    public convenience init(_ predicate: Foundation.NSPredicate) {
        self.init(node: predicate.node, depth: predicate.depth)
    }

    private convenience init(trapping format: String, _ arguments: [Any?]) {
        do {
            self.init(made: Self.make(try PredicateParser.lenientTree(format, arguments: arguments)))
        } catch {
            misuse("\(error)")
        }
    }

    package convenience init(node: PredicateNode, depth: Int? = nil) {
        self.init(made: Self.make(PredicateTree(node, depth: depth ?? node.depth)))
    }

    /// - Parameter tree: was filled from the format.
    convenience init(tree: PredicateTree, of format: FormatTemplate) {
        switch format.model {
        case .comparison: self.init(made: NSComparisonPredicate(body: tree))
        case .and, .or, .not: self.init(made: NSCompoundPredicate(body: tree))
        case .constant, .block, .words, .fault: self.init(made: Self.make(tree))
        }
    }

    convenience init(translated made: NSPredicate) { self.init(made: made) }

    private convenience init(made: NSPredicate) {
        if Self.self == NSPredicate.self {
            self.init(taking: unsafeDowncast(made, to: Self.self))
        } else if let made = made as? Self {
            // A subclass of the program's gets only the tree, since an object of another class cannot replace it.
            self.init(taking: made)
        } else {
            self.init(body: made.body)
        }
    }

    private static func make(_ tree: PredicateTree) -> NSPredicate {
        switch tree.node {
        case .comparison: NSComparisonPredicate(body: tree)
        case .and, .or, .not: NSCompoundPredicate(body: tree)
        case .constant(let value): NSPredicate(body: BlockBody(constant: value))
        case .block(let block): NSPredicate(body: block)
        case .words, .fault: NSPredicate(body: tree)
        }
    }

    /// The predicate with its `$VARIABLES` replaced by values. A variable without a value stays.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        guard body is PredicateTree else { return self }
        return NSPredicate(node: node.substituting(variables)) as? Self ?? self
    }
}

extension PredicateNode {
    /// The number of levels. The tree was parsed, so it is within the limit.
    var depth: Int {
        switch self {
        case .constant, .words, .block, .fault: 1
        case .and(let parts), .or(let parts): 1 + parts.reduce(0) { max($0, $1.depth) }
        case .not(let part): 1 + part.depth
        case .comparison(let comparison): 1 + max(comparison.left.depth, comparison.right.depth)
        }
    }
}

extension ExpressionNode {
    var depth: Int {
        switch self {
        case .constant, .keyPath, .variable, .fault: 1
        case .path(let base, _): 1 + base.depth
        case .aggregate(let list), .call(_, let list), .block(_, let list): 1 + list.reduce(0) { max($0, $1.depth) }
        case .set(_, let left, let right): 1 + max(left.depth, right.depth)
        case .subquery(let collection, _, let predicate): 1 + max(collection.depth, predicate.depth)
        case .conditional(let predicate, let first, let second): 1 + max(predicate.depth, first.depth, second.depth)
        }
    }
}

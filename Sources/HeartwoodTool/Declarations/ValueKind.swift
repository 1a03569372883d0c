/// What the texts of an option or an argument stand for: completions, errors and tests go by it.
enum ValueKind: Sendable, Equatable {
    /// An option that is there or not, and takes no value.
    case flag
    case text
    /// A whole number of at least this.
    case integer(from: Int)
    /// A number of seconds.
    case seconds
    /// One of these words.
    case choice([String])
    case predicate
    /// An entity, a colon and a predicate.
    case request
    /// ISO 8601, or a day.
    case time
    /// The number of a commit, or a time.
    case commit
    /// The identity of a store or of a line of commits.
    case identity
    /// The URI of an object.
    case object
    case file
    case folder
    /// A file that carries its model, or the URL of a store in a database.
    case store
    /// The folder or the bucket of a backup.
    case backup
    /// A model's file, or a store, which carries its model.
    case model
    /// The name of an entity of the store on the same line.
    case entity
    /// A list of attributes and key paths of the entity on the same line.
    case attributes
    /// The same, with their orders.
    case orders
    /// The name of a command of the tool.
    case command

    /// Whether it is a path, which a shell completes.
    var isPath: Bool { [.file, .folder, .store, .backup, .model].contains(self) }
}

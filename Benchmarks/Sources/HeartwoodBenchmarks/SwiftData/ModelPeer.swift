/// A store of the same persons through models, managed objects or records. What a call returns must be equal between peers.
protocol ModelPeer: AnyObject, SendableMetatype {
    static var name: String { get }

    init(path: String, generator: PersonGenerator) throws

    /// Opens the store or makes it, as a program does that knows its classes only.
    func open() throws
    func close() throws
    /// Inserts every person durably, ten thousand in each save.
    func insertAll() throws
    func firstName() throws -> String
    /// Fetches the persons born in a range.
    /// - Parameter reads: whether the age of each is read as well.
    func fetch(bornIn birthdays: Range<Double>, reads: Bool) throws -> UInt64
    /// Reads name and age of every person, some persons at a time.
    func enumerate() throws -> UInt64
    /// Fetches so many persons and keeps them.
    func hold(_ count: Int) throws
    /// Changes a number of each kept person, and saves.
    func change(to score: Double) throws
}

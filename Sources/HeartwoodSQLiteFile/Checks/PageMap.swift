/// The user of each page of a database, by which a page with two users or none is found.
///
/// Memory: 4 bytes for each page that the files have. A page count in a header or a log may be any number.
struct PageMap {
    /// By page; 0 for none, else 1 more than the index of the user's name.
    private var users: [UInt32]
    private(set) var names: [String] = []
    let pageCount: UInt32

    /// - Parameter present: the most pages that the files can have.
    init(pageCount: UInt32, present: Int) {
        self.pageCount = pageCount
        users = Array(repeating: 0, count: min(Int(pageCount), present) + 1)
    }

    /// - Returns: the number of a user of pages.
    mutating func add(_ name: String) -> Int {
        names.append(name)
        return names.count - 1
    }

    /// - Returns: nil if the page had no user; else the message about it.
    mutating func claim(_ page: UInt32, for user: Int) -> String? {
        guard page > 0, page <= pageCount else { return "a reference leads to page \(page), but the database has the pages 1 to \(pageCount)" }
        guard Int(page) < users.count else { return "a reference leads to page \(page), which the files do not have" }
        let holder = users[Int(page)]
        guard holder == 0 else { return "the page \(page) is used twice: \(names[Int(holder) - 1]) has it already" }
        users[Int(page)] = UInt32(user + 1)
        return nil
    }

    /// The pages that nothing uses.
    func unused() -> [UInt32] { (1..<max(1, users.count)).filter { users[$0] == 0 }.map { UInt32($0) } }
}

import Foundation
import Glibc

/// A measured store. Each call is one timed block and returns a checksum that must be equal between peers; nil if the workload does not apply to
/// the peer.
protocol Peer: AnyObject, SendableMetatype {
    static var name: String { get }
    init(path: String, generator: PersonGenerator) throws

    /// Opens the store at the path, or makes it.
    func open() throws
    func close() throws
    /// Inserts every person durably, ten thousand in each transaction.
    func bulkInsert() throws
    /// Changes one person's score durably.
    func saveOne(_ number: Int) throws
    /// Inserts a new person, with a number after the generator's, in a transaction of its own.
    func insertOne(_ person: PersonData) throws
    func firstName() throws -> String
    /// Reads the commits of other handles.
    func look() throws
    func pointByID(_ numbers: [Int]) throws -> UInt64?
    func byEmail(_ emails: [String]) throws -> UInt64?
    /// Reads the next hundred persons in order from each birthday on.
    func ranges(_ birthdays: [Double]) throws -> UInt64?
    /// The same as typed values, without objects.
    func rangeValues(_ birthdays: [Double]) throws -> UInt64?
    /// Counts the persons older than 40 with "tree" in their note.
    func scan() throws -> UInt64?
    /// Reads two attributes of every person.
    func readAll() throws -> UInt64?
    /// Reads two attributes of every person as typed values, without objects.
    func readValues() throws -> UInt64?
    /// Makes an array of structures with two attributes of every person.
    func readStructures() throws -> UInt64?
    /// Writes every person as a line of JSON.
    func writeLines() throws -> UInt64?
    /// Reads the age of each member of each group through the group.
    func walkGroups() throws -> UInt64?
    /// Reads the same ages as typed values, group by group, without objects of persons.
    func memberValues() throws -> UInt64?
    func update(_ numbers: [Int]) throws -> UInt64?
    func delete(_ numbers: [Int]) throws -> UInt64?
    func compact() throws -> UInt64?
}

extension Peer {
    func insertOne(_ person: PersonData) throws {}
    func look() throws {}
    func pointByID(_ numbers: [Int]) throws -> UInt64? { nil }
    func byEmail(_ emails: [String]) throws -> UInt64? { nil }
    func ranges(_ birthdays: [Double]) throws -> UInt64? { nil }
    func rangeValues(_ birthdays: [Double]) throws -> UInt64? { nil }
    func scan() throws -> UInt64? { nil }
    func readValues() throws -> UInt64? { nil }
    func readStructures() throws -> UInt64? { nil }
    func writeLines() throws -> UInt64? { nil }
    func walkGroups() throws -> UInt64? { nil }
    func memberValues() throws -> UInt64? { nil }
    func update(_ numbers: [Int]) throws -> UInt64? { nil }
    func delete(_ numbers: [Int]) throws -> UInt64? { nil }
    func compact() throws -> UInt64? { nil }
}

/// Adds up the values that a workload read, so that peers can be compared and nothing is optimised away.
struct Checksum {
    private(set) var value: UInt64 = 0

    mutating func add(_ number: Int) { value = value &+ UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9 }
    mutating func add(_ bytes: UnsafeRawBufferPointer) { value = value &+ UInt64(bytes.count) &* 31 }
    mutating func add(_ text: String) { value = value &+ UInt64(text.utf8.count) &* 31 }
}

struct PeerError: Error, CustomStringConvertible {
    let description: String
}

enum PeerFiles {
    static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
    }

    /// Drops a file from the system's cache, so that the next reads come from the disk.
    static func forget(_ path: String) {
        for ending in ["", "-wal"] {
            let descriptor = Glibc.open(path + ending, O_RDONLY)
            guard descriptor >= 0 else { continue }
            fsync(descriptor)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            close(descriptor)
        }
    }

    /// The size of the file and the files beside it.
    static func size(_ path: String) -> UInt64 {
        ["", "-wal"].reduce(0) { total, ending in
            let size = try? FileManager.default.attributesOfItem(atPath: path + ending)[.size] as? NSNumber
            return total + (size?.uint64Value ?? 0)
        }
    }
}

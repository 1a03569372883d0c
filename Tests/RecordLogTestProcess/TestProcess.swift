import Foundation
import RecordLog

/// A separate process for tests with several processes: `heartwood-recordlog-testprocess ROLE STORE MILLISECONDS`.
///
/// The store is a ledger (see `Ledger`). Each role ends after its time, or when it is killed. One that sees a state that no commit made reports it
/// on standard error and exits with 3.
@main
struct TestProcess {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let milliseconds = Int(arguments[3]) else { exit(2) }
        let deadline = ContinuousClock.now + .milliseconds(milliseconds)
        do {
            switch arguments[1] {
            case "write": try write(arguments[2], until: deadline)
            case "writers": try writeTogether(arguments[2], until: deadline)
            case "follow": try follow(arguments[2], until: deadline)
            case "compact": try compact(arguments[2], until: deadline)
            case "check": try check(arguments[2])
            case "load": try load(arguments[2], ending: milliseconds)
            case "touch": try touch(arguments[2])
            case "stream":
                // MiB instead of the time.
                var stream = ValueStream(path: arguments[2], bytes: milliseconds << 20)
                say(try stream.run().map { "\($0)" } ?? "")
            #if os(Linux)
                case "fork": try ProcessLimits.fork(arguments[2])
                case "filesize": try ProcessLimits.fileSize(arguments[2])
                case "memory": try ProcessLimits.memory()
                case "unreadable": try ProcessLimits.unreadable(arguments[2])
            #endif
            default: exit(2)
            }
        } catch {
            FileHandle.standardError.write(Data("\(arguments[1]): \(error)\n".utf8))
            exit(error is Ledger.Torn ? 3 : 1)
        }
    }

    /// Prints each commit's number once its save has returned, unbuffered.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    private static func write(_ path: String, until deadline: ContinuousClock.Instant) throws {
        var options = StoreOptions()
        options.lockTimeout = .seconds(30)
        let ledger = try Ledger(path: path, options: options)
        while ContinuousClock.now < deadline {
            let number = try ledger.commit()
            say("\(number)")
            if number % 25 == 0 { try ledger.store.checkpoint() }
            if number % 60 == 0 { _ = try compact(ledger.store) }
        }
        try ledger.store.close()
    }

    /// Writes as `write` does, by eight threads, whose commits share syncs.
    private static func writeTogether(_ path: String, until deadline: ContinuousClock.Instant) throws {
        var options = StoreOptions()
        options.lockTimeout = .seconds(30)
        options.checkpointAfterBytes = 256 << 10
        // Unsafe: a commit uses the ledger's parts under the store's lock only.
        nonisolated(unsafe) let ledger = try Ledger(path: path, options: options)
        let ended = DispatchGroup()
        for _ in 0..<8 {
            ended.enter()
            Thread.detachNewThread {
                do {
                    while ContinuousClock.now < deadline { say("\(try ledger.commit())") }
                } catch {
                    FileHandle.standardError.write(Data("writers: \(error)\n".utf8))
                    exit(error is Ledger.Torn ? 3 : 1)
                }
                ended.leave()
            }
        }
        ended.wait()
        try ledger.store.close()
    }

    /// Prints the number of states seen, and the newest one's number.
    private static func follow(_ path: String, until deadline: ContinuousClock.Instant) throws {
        var options = StoreOptions()
        options.isReadOnly = true
        var ledger = try Ledger(path: path, options: options)
        var states = 0
        var newest: Int64 = 0
        var rounds = 0
        while ContinuousClock.now < deadline {
            let snapshot = try ledger.store.refresh()
            let number = try ledger.check(snapshot, isWhole: rounds % 64 == 0)
            guard number >= newest else { throw Ledger.Torn(what: "commit \(number) after commit \(newest)") }
            if number > newest { states += 1 }
            newest = number
            rounds += 1
            // Opening is a way of reading too.
            if rounds % 200 == 0 { ledger = try Ledger(path: path, options: options) }
        }
        say("\(states) \(newest)")
    }

    /// Opens the store as a writer does after a crash, or makes one. Prints the newest commit's number.
    private static func check(_ path: String) throws {
        let ledger = try Ledger(path: path, options: StoreOptions())
        say("\(try ledger.check(ledger.store.snapshot(), isWhole: true))")
        try ledger.store.close()
    }

    /// As small stores of a test need checkpoints.
    private static var loading: StoreOptions {
        var options = StoreOptions()
        options.checkpointAfterBytes = 256 << 10
        return options
    }

    /// Ends with the large commits of a load, and does not close the store.
    /// - Parameter ending: how the process ends; see `OpeningCostTests`.
    private static func load(_ path: String, ending: Int) throws {
        let ledger = try Ledger(path: path, options: loading)
        while try ledger.commit() < 64 {}
        say("\(ledger.store.statistics.checkpoints)")
        try withExtendedLifetime(ledger) {
            switch ending {
            case 0: exit(0)
            case 1: _exit(0)
            case 2: kill(getpid(), SIGKILL)
            case 3: abort()
            case 4:
                let store = ledger.store
                Thread.detachNewThread { try? store.checkpoint() }
                // The checkpoint is under way when the process ends.
                usleep(1000)
                _exit(0)
            case 5: try ledger.store.close()
            default: exit(2)
            }
        }
    }

    /// Opens the store for writing, saves a little, and ends at once.
    private static func touch(_ path: String) throws {
        let ledger = try Ledger(path: path, options: loading)
        say("\(try ledger.commit()) \(ledger.store.statistics.bytesReplayed)")
        withExtendedLifetime(ledger) { _exit(0) }
    }

    /// Prints the number of compactions, and the number of commits made while they copied.
    private static func compact(_ path: String, until deadline: ContinuousClock.Instant) throws {
        var options = StoreOptions()
        options.lockTimeout = .seconds(30)
        let store = try LogStore.open(path: path, options: options)
        var count = 0, commits: UInt64 = 0
        while ContinuousClock.now < deadline {
            // Some with a history window, which copies commits as well.
            guard let report = try compact(store, keeping: count % 4 == 3 ? .commits(5) : .none) else { continue }
            count += 1
            if count % 4 != 0 { commits += report.commits }
        }
        try store.close()
        say("\(count) \(commits)")
    }

    /// - Returns: nil if another process was compacting.
    private static func compact(_ store: LogStore, keeping window: HistoryWindow = .none) throws -> CompactionReport? {
        do throws(StoreError) {
            return try store.compact(keeping: window) { _ in
                // Simulates the time that a large store takes.
                usleep(2000)
                return true
            }
        } catch {
            guard error.code == .locked else { throw error }
            return nil
        }
    }
}

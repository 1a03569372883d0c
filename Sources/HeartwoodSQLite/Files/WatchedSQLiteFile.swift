import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Notices the owner's commits to a file of Core Data's. One thread uses it.
///
/// It keeps a state of its own, since the states that queries read may be newer than the last report.
final class WatchedSQLiteFile {
    private let path: String
    /// In log mode the owner writes to the log, so the system's watcher of the file ends by its timeout.
    private let watcher: any FileWatcher
    /// nil while the file cannot be opened.
    private var file: SQLiteFile?

    init(path: String) {
        self.path = path
        watcher = FileWatchers.watcher(of: path)
        file = try? SQLiteFile.open(path: path)
    }

    /// Waits for a write to the file, or for some time.
    /// - Returns: whether the owner has committed since the last call.
    func waitForCommit(milliseconds: Int32) -> Bool {
        watcher.wait(milliseconds: milliseconds)
        guard (try? file?.checkUnchanged()) == nil else { return false }
        // While the owner writes, the file may not open; the next call tries again.
        guard let newer = try? SQLiteFile.open(path: path) else { return false }
        file = newer
        return true
    }
}

/// The state that the tables and indexes of one file share.
///
/// building -> finished; building -> abandoned, by the caller or by the first failure. An abandoned file is removed.
final class BuildCore {
    let path: String
    let pages: PageWriter
    let record = RecordBuffer()
    let sortSpace: SortSpace
    private let files: any BuildFiles
    private let file: any BuildFile
    private var state = State.building

    private enum State {
        case building, finished
        /// After a failure, its error.
        case abandoned(SQLiteBuildError?)
    }

    init(path: String, pageSize: Int, files: any BuildFiles, sortMemory: Int, fanIn: Int) throws(SQLiteBuildError) {
        self.path = path
        self.files = files
        file = try files.create(path)
        pages = PageWriter(path: path, file: file, pageSize: pageSize)
        sortSpace = SortSpace(path: path, files: files, memoryMax: sortMemory, fanIn: fanIn)
    }

    func check() throws(SQLiteBuildError) {
        switch state {
        case .building: return
        case .abandoned(let error?): throw error
        case .finished: throw SQLiteBuildError(.closed, path: path, "the file is finished", remedy: "Build another file.")
        case .abandoned(nil): throw SQLiteBuildError(.closed, path: path, "the file was abandoned", remedy: "Build it anew.")
        }
    }

    /// Does a part of the work. After an error of it the file is removed.
    func run<Result>(_ work: () throws(SQLiteBuildError) -> Result) throws(SQLiteBuildError) -> Result {
        do throws(SQLiteBuildError) {
            return try work()
        } catch {
            abandon(error)
            throw error
        }
    }

    func finish(firstPage: UnsafeRawPointer) throws(SQLiteBuildError) {
        try pages.finish(firstPage: firstPage)
        try files.syncFolder(of: path)
        state = .finished
        sortSpace.close()
        file.close()
    }

    func abandon(_ error: SQLiteBuildError?) {
        guard case .building = state else { return }
        state = .abandoned(error)
        sortSpace.close()
        file.removeName()
        file.close()
    }
}

internal import Foundation

/// The functions of libpq, found when they are first needed. No header and no link: a program runs on a machine that has no libpq.
///
/// Source: "libpq — C Library" of PostgreSQL's documentation.
final class LibPQ: @unchecked Sendable {
    // Unchecked: pointers to functions, which never change.

    typealias Text = UnsafePointer<CChar>
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>
    typealias Connection = OpaquePointer
    typealias Answer = OpaquePointer
    typealias NoticeReceiver = @convention(c) (UnsafeMutableRawPointer?, Answer?) -> Void

    // Connections.
    let connect: @convention(c) (Texts, Texts, CInt) -> Connection?
    let finish: @convention(c) (Connection?) -> Void
    let status: @convention(c) (Connection?) -> CInt
    let transactionStatus: @convention(c) (Connection?) -> CInt
    let serverVersion: @convention(c) (Connection?) -> CInt
    let parameterStatus: @convention(c) (Connection?, Text) -> Text?
    let backendPID: @convention(c) (Connection?) -> CInt
    let errorMessage: @convention(c) (Connection?) -> Text?
    let socket: @convention(c) (Connection?) -> CInt
    let setNonblocking: @convention(c) (Connection?, CInt) -> CInt
    let setNoticeReceiver: @convention(c) (Connection?, NoticeReceiver?, UnsafeMutableRawPointer?) -> NoticeReceiver?
    let parseOptions: @convention(c) (Text, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> UnsafeMutableRawPointer?
    let freeOptions: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void

    // Statements.
    let sendQuery: @convention(c) (Connection?, Text) -> CInt
    let sendPrepare: @convention(c) (Connection?, Text, Text, CInt, UnsafePointer<UInt32>?) -> CInt
    let sendPrepared: @convention(c) (Connection?, Text, CInt, Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt) -> CInt
    let sendParameters: @convention(c) (
        Connection?, Text, CInt, UnsafePointer<UInt32>?, Texts?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
    ) -> CInt
    let setSingleRowMode: @convention(c) (Connection?) -> CInt
    let flush: @convention(c) (Connection?) -> CInt
    let consumeInput: @convention(c) (Connection?) -> CInt
    let isBusy: @convention(c) (Connection?) -> CInt
    let getResult: @convention(c) (Connection?) -> Answer?
    let putCopyData: @convention(c) (Connection?, Text?, CInt) -> CInt
    let putCopyEnd: @convention(c) (Connection?, Text?) -> CInt
    let getCopyData: @convention(c) (Connection?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CInt) -> CInt
    let notifies: @convention(c) (Connection?) -> UnsafeMutableRawPointer?
    let getCancel: @convention(c) (Connection?) -> OpaquePointer?
    let freeCancel: @convention(c) (OpaquePointer?) -> Void
    let cancel: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>, CInt) -> CInt

    // Answers.
    let resultStatus: @convention(c) (Answer?) -> CInt
    let resultErrorField: @convention(c) (Answer?, CInt) -> Text?
    let resultErrorMessage: @convention(c) (Answer?) -> Text?
    let clear: @convention(c) (Answer?) -> Void
    let rowCount: @convention(c) (Answer?) -> CInt
    let columnCount: @convention(c) (Answer?) -> CInt
    let columnName: @convention(c) (Answer?, CInt) -> Text?
    let columnType: @convention(c) (Answer?, CInt) -> UInt32
    let value: @convention(c) (Answer?, CInt, CInt) -> UnsafePointer<CChar>?
    let length: @convention(c) (Answer?, CInt, CInt) -> CInt
    let isNull: @convention(c) (Answer?, CInt, CInt) -> CInt
    let commandTag: @convention(c) (Answer?) -> Text?
    let affectedRows: @convention(c) (Answer?) -> Text?

    /// Those of a pipeline. libpq has them from version 14 on.
    let pipeline: Pipeline?

    struct Pipeline {
        let enter: @convention(c) (Connection?) -> CInt
        let exit: @convention(c) (Connection?) -> CInt
        let sync: @convention(c) (Connection?) -> CInt

        init?(_ library: SharedLibrary) {
            guard let enter = library.symbol("PQenterPipelineMode"), let exit = library.symbol("PQexitPipelineMode"),
                let sync = library.symbol("PQpipelineSync")
            else { return nil }
            self.enter = unsafeBitCast(enter, to: (@convention(c) (Connection?) -> CInt).self)
            self.exit = unsafeBitCast(exit, to: (@convention(c) (Connection?) -> CInt).self)
            self.sync = unsafeBitCast(sync, to: (@convention(c) (Connection?) -> CInt).self)
        }
    }

    /// Finds each function.
    /// - Throws: `noLibrary` that names the first function that is missing.
    init(_ library: SharedLibrary) throws(PostgreSQLError) {
        func find<T>(_ name: String) throws(PostgreSQLError) -> T {
            guard let symbol = library.symbol("PQ" + name) else {
                throw PostgreSQLError(.noLibrary, "The libpq of this machine lacks PQ\(name). Install libpq of PostgreSQL 12 or later.")
            }
            return unsafeBitCast(symbol, to: T.self)
        }
        connect = try find("connectdbParams")
        finish = try find("finish")
        status = try find("status")
        transactionStatus = try find("transactionStatus")
        serverVersion = try find("serverVersion")
        parameterStatus = try find("parameterStatus")
        backendPID = try find("backendPID")
        errorMessage = try find("errorMessage")
        socket = try find("socket")
        setNonblocking = try find("setnonblocking")
        setNoticeReceiver = try find("setNoticeReceiver")
        parseOptions = try find("conninfoParse")
        freeOptions = try find("conninfoFree")
        freeMemory = try find("freemem")
        sendQuery = try find("sendQuery")
        sendPrepare = try find("sendPrepare")
        sendPrepared = try find("sendQueryPrepared")
        sendParameters = try find("sendQueryParams")
        setSingleRowMode = try find("setSingleRowMode")
        flush = try find("flush")
        consumeInput = try find("consumeInput")
        isBusy = try find("isBusy")
        getResult = try find("getResult")
        putCopyData = try find("putCopyData")
        putCopyEnd = try find("putCopyEnd")
        getCopyData = try find("getCopyData")
        notifies = try find("notifies")
        getCancel = try find("getCancel")
        freeCancel = try find("freeCancel")
        cancel = try find("cancel")
        resultStatus = try find("resultStatus")
        resultErrorField = try find("resultErrorField")
        resultErrorMessage = try find("resultErrorMessage")
        clear = try find("clear")
        rowCount = try find("ntuples")
        columnCount = try find("nfields")
        columnName = try find("fname")
        columnType = try find("ftype")
        value = try find("getvalue")
        length = try find("getlength")
        isNull = try find("getisnull")
        commandTag = try find("cmdStatus")
        affectedRows = try find("cmdTuples")
        pipeline = Pipeline(library)
    }
}

import Foundation

/// What a page of `heartwood report` shows. The page has it as JSON; `ReportScript` reads it.
struct ReportData: Encodable {
    /// The file's name, or the number of files.
    var title: String
    /// Milliseconds since 1970-01-01 UTC.
    var made = ReportTitles.milliseconds(Date())
    /// Of the tool that made the page.
    var version = HeartwoodTool.version
    /// nil for a page of several files.
    var overview: ReportOverview?
    /// The files of a page of several.
    var files: [ReportOverview]?
    var model: ReportModel?
    var space: ReportSpace?
    var time: ReportTimeline?
    var rows: ReportRows?
    var queries: [ReportQuery] = []
    var difference: ReportDifference?
    /// Is not part of the JSON: the page has the drawing as SVG.
    var diagram: ModelLayout?

    /// A page of several files.
    static func files(_ found: [ReportOverview]) -> ReportData {
        ReportData(title: Output.count(found.count, "file"), files: found)
    }

    private enum CodingKeys: CodingKey {
        case title, made, version, overview, files, model, space, time, rows, queries, difference
    }
}

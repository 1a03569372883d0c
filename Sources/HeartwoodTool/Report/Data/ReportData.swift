/// What a page of `heartwood report` shows. The page has it as JSON; `ReportScript` reads it.
struct ReportData: Encodable {
    /// The file's name.
    var title: String
    /// Milliseconds since 1970-01-01 UTC.
    var made: Double
    var overview: ReportOverview
    var model: ReportModel?
    var space: ReportSpace?
    var time: ReportTimeline?
    var rows: ReportRows?
    var queries: [ReportQuery] = []
    var difference: ReportDifference?
    /// Is not part of the JSON: the page has the drawing as SVG.
    var diagram: ModelLayout?

    private enum CodingKeys: CodingKey {
        case title, made, overview, model, space, time, rows, queries, difference
    }
}

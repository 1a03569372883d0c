import Foundation
import Heartwood

/// The text of a page: the templates of this folder, with the data of a report.
enum ReportPage {
    static func html(_ data: ReportData) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = inert(String(decoding: try encoder.encode(data), as: UTF8.self))
        let diagram = data.diagram.map { ModelSVG.part($0, title: "Diagram of the model", links: links($0)) } ?? ""
        return [
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">",
            // The page asks no server for anything, whatever a value may be.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                + "img-src data:\">",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">",
            "<title>\(ModelSVG.escape(data.title))</title>\n<style>\n\(ReportStyle.text)\n\(ModelSVG.style { "var(--\($0))" })\n</style>\n</head>",
            ReportBody.text(diagram: diagram),
            "<script type=\"application/json\" id=\"data\">\(json)</script>",
            "<script>\n\"use strict\";\n(() => {\n\(ReportScript.text)\n})();\n</script>\n</body>\n</html>\n",
        ].joined(separator: "\n")
    }

    /// JSON that cannot end the element in which it stands, nor begin a comment in it: its texts have no `<`, `>` and `&` as such.
    static func inert(_ json: String) -> String {
        json.replacing("<", with: "\\u003c").replacing(">", with: "\\u003e").replacing("&", with: "\\u0026")
            .replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
    }

    private static func links(_ layout: ModelLayout) -> ModelSVG.Links {
        ModelSVG.Links(
            rows: { ($0.isAbstract || layout.isMap ? "#model/" : "#rows/") + address($0.title) }, entity: { "#model/\(address($0.title))" })
    }

    private static func address(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
}

import Foundation
import Heartwood
import HeartwoodSQLite

extension CoreDataReport {
    static func json(_ report: CoreDataInspection) throws -> String {
        var object: [String: Any] = [
            "path": report.path, "identity": report.identifier, "storeType": report.storeType,
            "frameworkVersion": report.frameworkVersion.map { $0 as Any } ?? NSNull(), "database": database(report.database),
            "log": report.log.map { log($0) as Any } ?? NSNull(), "history": report.history.map { history($0) as Any } ?? NSNull(),
            "external": report.external.map { external($0) as Any } ?? NSNull(),
            "model": [
                "origin": report.modelOrigin, "versionIdentifiers": report.modelIdentifiers, "guessReason": report.guessReason ?? NSNull(),
                "guesses": report.guesses, "doubts": report.doubts, "warnings": report.warnings, "misfit": report.misfit ?? NSNull(),
            ] as [String: Any],
            "lost": CoreDataReport(report).losses, "rowsOfNoEntity": report.strays,
        ]
        object["entities"] = report.entities.map { entity -> [String: Any] in
            [
                "name": entity.name, "parent": entity.parent ?? NSNull(), "isAbstract": entity.isAbstract, "number": entity.number,
                "table": entity.table, "objects": entity.objects,
            ]
        }
        object["tables"] = report.tables.map { table -> [String: Any] in
            ["name": table.name, "kind": table.kind.rawValue, "rows": table.rows, "bytes": table.bytes, "indexBytes": table.indexBytes]
        }
        object["indexes"] = report.indexes.map { index -> [String: Any] in
            ["name": index.name, "table": index.table, "entries": index.entries, "bytes": index.bytes]
        }
        return try InspectionReport.encode(object)
    }

    private static func database(_ database: CoreDataInspection.Database) -> [String: Any] {
        [
            "fileBytes": database.fileBytes, "pages": database.pages, "pageSize": database.pageSize, "freePages": database.freePages,
            "pointerMapPages": database.pointerMapPages, "unusedPages": database.unusedPages, "sqliteVersion": database.sqliteVersion,
            "encoding": database.encoding, "autoVacuum": database.autoVacuum, "faults": database.faults, "isRolledBack": database.isRolledBack,
            "usesLog": database.usesLog,
        ]
    }

    private static func log(_ log: CoreDataInspection.Log) -> [String: Any] {
        [
            "bytes": log.bytes, "isValid": log.isValid, "salts": log.salts, "frames": log.frames, "commits": log.commits, "pages": log.pages,
            "openFrames": log.openFrames, "ignoredFrames": log.ignoredFrames, "wrongFrame": log.wrongFrame.map { $0 as Any } ?? NSNull(),
            "isCheckpointed": log.isCheckpointed,
        ]
    }

    private static func history(_ history: CoreDataInspection.History) -> [String: Any] {
        func end(_ end: (number: Int64, date: Date?)?) -> Any {
            guard let end else { return NSNull() }
            return ["number": end.number, "time": end.date.map { $0.formatted(Date.ISO8601FormatStyle()) as Any } ?? NSNull()] as [String: Any]
        }
        return [
            "transactions": history.transactions, "changes": history.changes, "oldest": end(history.oldest), "newest": end(history.newest),
        ]
    }

    private static func external(_ external: CoreDataInspection.External) -> [String: Any] {
        [
            "directory": external.directory, "inlineValues": external.inlineValues, "inlineBytes": external.inlineBytes,
            "fileValues": external.fileValues, "fileBytes": external.fileBytes, "missing": external.missing, "untagged": external.untagged,
            "unnamedFiles": external.unnamed,
        ]
    }
}

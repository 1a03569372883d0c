import Foundation
import Testing

/// The commands for backups over buckets, which `heartwood` gives to `heartwood-s3`.
@Suite struct BucketCommandTests {
    /// The URL of a bucket's folder for each server that `Tests/S3/run` has started.
    private static let servers = (ProcessInfo.processInfo.environment["HEARTWOOD_S3_SERVERS"] ?? "").split(separator: " ")
        .compactMap { $0.split(separator: "=", maxSplits: 1).last.map(String.init) }
        .filter { !$0.contains("endpoint=https:") || ProcessInfo.processInfo.environment["HEARTWOOD_S3_TRUSTED"] != nil }
    private static let variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL"]

    /// Runs the tool with these variables of Amazon's alone.
    private func run(_ words: [String], _ environment: [String: String], tool: URL = ToolProcess.executable) throws -> ToolProcess.Result {
        let removed = Self.variables.flatMap { ["-u", $0] }, set = environment.map { "\($0)=\($1)" }
        let env = try #require(Shell.path(of: "env"))
        return try ToolProcess.runWords(removed + set + [tool.path] + words, executable: env)
    }

    @Test
    func `Without credentials a bucket is refused by the names of the variables`() throws {
        for words in [["backup", "none.heartwood", "s3://bucket/prefix"], ["backup", "list", "s3://bucket"], ["restore", "s3://bucket", "-o", "x"]] {
            let result = try run(words, [:])
            #expect(result.status == 2 && result.error.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), "\(words): \(result)")
        }
    }

    @Test
    func `A URL with a password is refused, and no message repeats it`() throws {
        let result = try run(["backup", "list", "s3://me:hunter2@bucket/prefix"], ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hunter3"])
        #expect(result.status == 2 && result.error.contains("credentials go into the environment"), "\(result)")
        #expect(!result.error.contains("hunter"))
    }

    @Test
    func `Without the program for buckets the error names it and how to make it`() throws {
        let folder = URL(fileURLWithPath: ToolProcess.temporaryPath("alone")), alone = folder.appendingPathComponent("heartwood")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            try FileManager.default.linkItem(at: ToolProcess.executable, to: alone)
        } catch {
            // The folder for temporary files may be of another disk.
            try FileManager.default.copyItem(at: ToolProcess.executable, to: alone)
        }
        let result = try run(["backup", "list", "s3://bucket"], ["PATH": "/nowhere"], tool: alone)
        #expect(result.status == 2 && result.error.contains("heartwood-s3") && result.error.contains("swift build"), "\(result)")
    }

    @Test(.enabled(if: !servers.isEmpty, "No S3 server: `Tests/S3/run` starts some"), arguments: servers)
    func `A store is backed up to a bucket, looked after, followed and brought back`(server: String) throws {
        let parts = server.split(separator: "?", maxSplits: 1)
        let bucket = "\(parts[0])/tool-\(UUID().uuidString)" + (parts.count > 1 ? "?\(parts[1])" : "")
        let store = ToolProcess.temporaryPath(), copy = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, copy) }
        try ToolProcess.importExcerpt(to: store)
        let first = try ToolProcess.run("backup", store, bucket)
        #expect(first.status == 0 && first.output.contains("a full copy among them"), "\(first)")
        #expect(try ToolProcess.run("backup", store, bucket).output.contains("nothing new"))
        #expect(try ToolProcess.run("backup", "status", store, bucket).output.contains("up to date"))
        #expect(try ToolProcess.run("backup", "list", bucket).output.contains("commits that can be restored: 1"))
        #expect(try ToolProcess.run("backup", "verify", bucket).output.contains("all whole"))
        let restored = try ToolProcess.run("restore", bucket, "-o", copy)
        #expect(restored.status == 0 && restored.output.contains("goes on as lineage"), "\(restored)")
        #expect(try ToolProcess.run("query", copy, "Package", "--count").output == ToolProcess.run("query", store, "Package", "--count").output)
        let picked = try ToolProcess.run("cherry-pick", bucket, "--only", "Package", "--into", store, "--dry-run")
        #expect(picked.status == 0 && picked.output.contains("from commit"), "\(picked)")
        #expect(try ToolProcess.run("backup", "prune", bucket, "--keep-last", "1").output.contains("kept"))
        #expect(try ToolProcess.run("backup", "merge", bucket).status == 0)
        let missing = try ToolProcess.run("backup", "list", bucket.replacing("/tool-", with: "/none-"))
        #expect(missing.status == 1 && missing.error.contains("there are no log archives in s3://"), "\(missing)")
    }
}

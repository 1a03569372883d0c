#if os(Linux)
    import Foundation
    import Testing

    /// The limits of a process, and resources that it shares with another, in a process of its own: see `ProcessLimits`.
    @Suite struct ProcessLimitsTests {
        private func run(_ role: String, _ path: String) throws {
            let executable = ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-recordlog-testprocess")
            let result = try ToolProcess.run(role, path, "0", executable: executable)
            #expect(result.status == 0, "\(result.error)")
        }

        @Test
        func `A child of fork() is refused with its parent's handle and harms nothing`() throws {
            let path = ToolProcess.temporaryPath()
            defer { ToolProcess.cleanUp(path) }
            try run("fork", path)
        }

        @Test
        func `A save past the file size limit is an error, by SIGXFSZ too, and the handle goes on once the limit is raised`() throws {
            let path = ToolProcess.temporaryPath()
            defer { ToolProcess.cleanUp(path) }
            try run("filesize", path)
        }

        // A sanitizer takes terabytes of address space.
        #if !THREAD_SANITIZER && !ADDRESS_SANITIZER
            @Test
            func `Adding a store in memory without addresses left is an error, and the others go on`() throws { try run("memory", "-") }
        #endif

        @Test
        func `A path that is no UTF-8 is refused, and no file of a repaired name is opened or made`() throws {
            let directory = ToolProcess.temporaryPath()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let store = directory + "/x\u{FFFD}"
            try Data("another file".utf8).write(to: URL(fileURLWithPath: store))
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            for command in ["verify \"$1\"", "compact \"$1\"", "compact \"$2\" --to \"$1\"", "demo --store \"$1\""] {
                let script = "bad=$(printf '%s/x\\377' \"$1\"); good=\"$2\"; tool=\"$3\"; set -- \"$bad\" \"$good\"; exec \"$tool\" \(command)"
                let result = try ToolProcess.run(
                    "-c", script, "sh", directory, store, ToolProcess.executable.path, executable: URL(fileURLWithPath: "/bin/sh"))
                #expect(result.status == 2 && result.error.contains("argument "), "\(command): \(result.output) \(result.error)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["x\u{FFFD}"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        }

        @Test
        func `'compact --to' copies a store that is in use, and keeps what is there already`() throws {
            let store = ToolProcess.temporaryPath(), copy = ToolProcess.temporaryPath()
            defer { ToolProcess.cleanUp(store, copy) }
            try ToolProcess.importExcerpt(to: store)
            let made = try ToolProcess.run("compact", store, "--to", copy)
            #expect(made.status == 0 && made.output.contains("as of commit"), "\(made.error)")
            let rows = try [store, copy].map { try ToolProcess.run("query", $0, "Package", "--count").output }
            #expect(rows[0] == rows[1] && !rows[0].isEmpty)
            #expect(try ToolProcess.run("verify", copy).status == 0)
            #expect(try ToolProcess.run("compact", store, "--to", copy).status != 0)
            #expect(try ToolProcess.run("compact", store, "--to", copy, "--keep-commits", "1").status == 2)
        }

        @Test
        func `A store in a directory that may be written to and not read is compacted, copied and opened again`() throws {
            let directory = ToolProcess.temporaryPath()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            try run("unreadable", directory)
        }
    }
#endif

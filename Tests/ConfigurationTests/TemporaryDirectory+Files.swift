import Glibc
import TestSupport
import Testing

@testable import Configuration

extension TemporaryDirectory {
    /// Writes a file, making the directories above it, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String, mode: mode_t = 0o644) throws -> String {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o644) throws -> String {
        let file = try place(name)
        let stream = unsafe try #require(unsafe fopen(file, "w"))
        defer { unsafe fclose(stream) }
        #expect(unsafe fwrite(bytes, 1, bytes.count, stream) == bytes.count)
        #expect(unsafe chmod(file, mode) == 0)
        return file
    }

    @discardableResult
    func link(_ name: String, to target: String) throws -> String {
        let file = try place(name)
        #expect(unsafe symlink(target, file) == 0)
        return file
    }

    @discardableResult
    func makeFIFO(_ name: String) throws -> String {
        let file = try place(name)
        #expect(unsafe mkfifo(file, 0o644) == 0)
        return file
    }

    @discardableResult
    func makeDirectory(_ name: String) throws -> String {
        let file = try place(name)
        #expect(unsafe mkdir(file, 0o755) == 0)
        return file
    }

    /// A program that exists; nothing here runs it.
    @discardableResult
    func makeProgram(_ name: String) throws -> String {
        try write("#!/bin/sh\n", to: name, mode: 0o755)
    }

    private func place(_ name: String) throws -> String {
        var directory = path
        for part in name.split(separator: "/").dropLast() {
            directory += "/\(part)"
            if unsafe mkdir(directory, 0o755) != 0 { try #require(errno == EEXIST) }
        }
        return "\(path)/\(name)"
    }
}

extension TemporaryDirectory {
    /// Loads from this directory alone, or from those of its directories that are named.
    func load(
        _ names: [String] = [], instance: Instance = .system, searchPath: String? = "/usr/bin:/bin"
    ) throws -> LoadedConfiguration {
        let directories = names.isEmpty ? [path] : names.map { "\(path)/\($0)" }
        return try ConfigurationLoader(directories: directories, instance: instance, searchPath: searchPath).load()
    }

    /// The problems of a load, each with its file's path from here on.
    func problems(_ configuration: LoadedConfiguration) -> [String] {
        configuration.problems.map(\.description).map { text in
            text.hasPrefix("\(path)/") ? String(text.dropFirst(path.count + 1)) : text
        }
    }
}

@testable import Configuration

extension FuzzTarget {
    /// A desktop entry, in a language that the input may have; programs are looked for in no directory.
    static let desktopEntry = FuzzTarget("desktop-entry", takesList: true) { bytes in
        // A text that is no UTF-8 is refused before it gets here.
        guard String(validating: bytes, as: UTF8.self) != nil else { return }
        let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        checkFile(bytes, lineCount)
        let reader = DesktopEntryReader(locale: LocaleName("sr_YU@Latn"), search: ProgramSearch(path: ""))
        do throws(Defect) {
            let entry = try reader.parse(bytes, "app", at: "/app.desktop")
            for problem in entry.problems { checkMessage(problem.message, line: problem.line, lineCount) }
            if let exec = entry.manifest.exec { checkCommand(exec, entry.manifest.command) }
            require(entry.manifest.control == .own, "an entry gives no control")
        } catch {
            checkMessage(error.message, line: error.line, lineCount)
        }
    }

    /// A line of Exec by itself: whole entries seldom get so far.
    private static func checkFile(_ bytes: [UInt8], _ lineCount: Int) {
        let line = String(decoding: bytes, as: UTF8.self)
        let subject = ExecLine.Subject(name: "Name", icon: "icon", file: "/app.desktop")
        if let exec = try? ExecLine(line, of: subject) { checkCommand(exec, exec.command()) }
        _ = LocaleName(line)
        guard let file = try? DesktopEntryFile(bytes) else { return }
        for key in file.keys(withPrefix: "") {
            guard let value = try? file.value(named: key) else { continue }
            require((1...lineCount).contains(value.line), "every key has a line: \(key)")
            _ = try? file.strings(named: key)
        }
        for key in DesktopEntryFile.Key.allCases { _ = try? file.boolean(key) }
    }

    private static func checkCommand(_ exec: ExecLine, _ command: [String]) {
        require(command == exec.command(), "a command is the same each time")
        require(command.first?.isEmpty == false, "a command has a program")
        let url = "odd:%f %u \"'"
        let opening = exec.command(opening: url, path: "/a b")
        require(opening.first == command.first, "what is opened does not choose the program")
        require(exec.takesURLs || opening == command, "only who takes a URL has one among its arguments")
        require(opening.count >= command.count, "what is opened takes no argument away")
    }

    private static func checkMessage(_ message: String, line: Int?, _ lineCount: Int) {
        require(line.map { (1...lineCount).contains($0) } ?? true, "a defect is in a line of the text")
        require(!message.unicodeScalars.contains { $0.value < 32 }, "a message is one line")
        require(message.utf8.count < 8192, "a message can be read")
    }
}

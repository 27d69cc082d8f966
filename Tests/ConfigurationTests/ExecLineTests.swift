import Testing

@testable import Configuration

/// The Desktop Entry Specification 1.5, sections 7 and 8, sentence by sentence.
@Suite struct ExecLineTests {
    private let subject = ExecLine.Subject(name: "Clock face", icon: "clock", file: "/usr/share/applications/a.desktop")

    private func command(_ line: String, url: String? = nil, path: String? = nil) throws -> [String] {
        try ExecLine(line, of: subject).command(opening: url, path: path)
    }

    private func defect(_ line: String) -> String? {
        do throws(Defect) {
            _ = try ExecLine(line, of: subject)
            return nil
        } catch {
            return error.message
        }
    }

    @Test(arguments: [
        ("a", ["a"]), ("a b  c", ["a", "b", "c"]), (" a\tb ", ["a", "b"]), ("/opt/a b", ["/opt/a", "b"]),
        (#""/opt/a b/c" d"#, ["/opt/a b/c", "d"]), (#"a "b \" \` \$ \\ c""#, ["a", #"b " ` $ \ c"#]),
        (#"a "\x""#, ["a", #"\x"#]), (#"a """#, ["a", ""]), (#"a "b;c|d>e""#, ["a", "b;c|d>e"]),
        ("a 100%%", ["a", "100%"]), (#"a "100%%""#, ["a", "100%"]), ("a %%u", ["a", "%u"]),
    ])
    func `arguments are separated by spaces and may be quoted`(line: String, expected: [String]) throws {
        #expect(try command(line) == expected)
    }

    /// What the specification leaves open means what a shell would make of it, and nothing is expanded.
    @Test(arguments: [
        ("sh -c 'a \"b\" \\'", ["sh", "-c", #"a "b" \"#]), (#"env A="b c" d"#, ["env", "A=b c", "d"]),
        (#"a b\ c"#, ["a", "b c"]), ("a ~ $HOME `b` *", ["a", "~", "$HOME", "`b`", "*"]), ("a;b", ["a;b"]),
    ])
    func `an open quote is read as a shell reads it`(line: String, expected: [String]) throws {
        #expect(try command(line) == expected)
    }

    @Test(arguments: [
        ("a %f", ["a", "/b c"]), ("a %F", ["a", "/b c"]), ("a %u", ["a", "file:///b%20c"]),
        ("a %U", ["a", "file:///b%20c"]), ("a \"%u\"", ["a", "file:///b%20c"]), ("a --open=%f", ["a", "--open=/b c"]),
        ("a", ["a"]),
    ])
    func `a file stands where its code is, and is one argument`(line: String, expected: [String]) throws {
        #expect(try command(line, url: "file:///b%20c", path: "/b c") == expected)
    }

    @Test func codeWithoutAValueIsRemovedWithItsArgument() throws {
        #expect(try command("a %f %F b %u %U") == ["a", "b"])
        #expect(try command("a --open=%u b") == ["a", "--open=", "b"])
    }

    @Test func urlWithAnyCharactersIsOneArgument() throws {
        #expect(try command("a %u", url: "x:%f'\"$(b)\\;c") == ["a", "x:%f'\"$(b)\\;c"])
    }

    @Test func `a URL that is no file stands for one`() throws {
        #expect(try command("a %f", url: "https://b/") == ["a", "https://b/"])
    }

    @Test func `the entry's own name, icon and place`() throws {
        #expect(
            try command("a %i %c -t %c! %k")
                == ["a", "--icon", "clock", "Clock face", "-t", "Clock face!", "/usr/share/applications/a.desktop"])
        let plain = ExecLine.Subject(name: "%u", file: "/f")
        #expect(try ExecLine("a %i %c", of: plain).command(opening: "x:") == ["a", "%u"])
    }

    @Test(arguments: ["%d", "%D", "%n", "%N", "%v", "%m"])
    func `deprecated codes are removed`(code: String) throws {
        #expect(try command("a \(code) b c\(code)") == ["a", "b", "c"])
    }

    @Test(arguments: [
        ("a %x", #"has the unknown field code "%x"; write %% for a percent sign"#),
        ("a 5%", #"has the unknown field code "%"; write %% for a percent sign"#),
        ("a b%F", "has %F within an argument; make it an argument of its own"),
        ("a %Ub", "has %U within an argument; make it an argument of its own"),
        ("a b%i", "has %i within an argument; make it an argument of its own"),
        (#"sh -c "b %u""#, Defect.quotedCode.message),
        ("sh -c 'b %f'", Defect.quotedCode.message),
        ("a \"b", "has a \" without another one; close the quotation"),
        ("a 'b", "has a ' without another one; close the quotation"),
        ("a \\", "ends in a backslash, which escapes nothing; remove it"),
        ("", "is empty; write the program and its arguments"), (" ", "is empty; write the program and its arguments"),
        ("%u", "does not begin with a program; name it first"),
        ("\"\" a", "does not begin with a program; name it first"),
        ("bin/a", #"names "bin/a"; expected an absolute path, or a name to look up in PATH"#),
    ])
    func `a line without a command is refused`(line: String, message: String) {
        #expect(defect(line) == message)
    }

    @Test func `an entry knows whether it takes URLs or files`() throws {
        for line in ["a %u", "a %U", "a %f", "a %F", "a --x=%f"] { #expect(try ExecLine(line, of: subject).takesURLs) }
        for line in ["a", "a %%u", "a %c", "a %d"] { #expect(try !ExecLine(line, of: subject).takesURLs) }
    }

    /// A separator, or a quote, and an accent after it are one character, and two bytes or more.
    @Test func `accents hide nothing`() throws {
        #expect(try command("a \u{301}b \"\u{301}c\" %%\u{301}") == ["a", "\u{301}b", "\u{301}c", "%\u{301}"])
        #expect(try command("a /\u{301}").count == 2)
        #expect(defect("a %\u{301}") != nil)
    }
}

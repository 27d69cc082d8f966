import Glibc

/// A parser, with what has to hold for whatever it is given.
struct FuzzTarget {
    /// As the command line and the corpus have it.
    let name: String
    /// A Boolean value that indicates whether an input is a list of documents that form feeds separate.
    ///
    /// A parser stops at the first mistake. With several documents in an input, a small corpus reaches every mistake.
    let takesList: Bool
    /// Takes an input, or one document of it; ends the process when something does not hold.
    let run: @MainActor ([UInt8]) -> Void

    init(_ name: String, takesList: Bool = false, _ run: @escaping @MainActor ([UInt8]) -> Void) {
        self.name = name
        self.takesList = takesList
        self.run = run
    }

    /// Takes an input of libFuzzer.
    func runAll(_ bytes: [UInt8]) {
        guard takesList else { return run(bytes) }
        for document in bytes.split(separator: 0x0C, omittingEmptySubsequences: false) { run(Array(document)) }
    }

    static let all: [FuzzTarget] = [
        .json, .varlinkServer, .varlinkClient, .appLines, .appSession, .toml, .manifest, .settings, .values, .state,
        .stateRoundTrip, .procStatus, .procFiles, .pressure, .url, .desktopEntry, .sway, .streams,
        .journal,
    ]
}

/// Ends the process, so that libFuzzer keeps the input, when something does not hold. A `precondition` would not say what.
func require(_ holds: @autoclosure () -> Bool, _ what: @autoclosure () -> String) {
    guard !holds() else { return }
    say("does not hold: \(what())")
    abort()
}

private func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
}

/// The target that `LIFED_FUZZ_TARGET` names.
private let chosen: FuzzTarget? = {
    let name = unsafe getenv("LIFED_FUZZ_TARGET").map { unsafe String(cString: $0) }
    return FuzzTarget.all.first { $0.name == name }
}()

/// Called by libFuzzer before the first input.
@c(lifed_fuzz_begin) public nonisolated func begin() -> Int32 {
    MainActor.assumeIsolated {
        if chosen == nil {
            say("LIFED_FUZZ_TARGET is none of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
            exit(2)
        }
        return 0
    }
}

/// Called by libFuzzer with each input.
@c(lifed_fuzz_one) public nonisolated func one(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    MainActor.assumeIsolated { chosen?.runAll(bytes) }
    return 0
}

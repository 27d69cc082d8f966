/// Problems as they are found, up to a limit: a daemon must not carry more about with it than anybody reads.
struct ProblemList {
    static let limit = 1000

    private(set) var problems: [Problem] = []
    private var omitted = 0

    mutating func add(_ problem: Problem) {
        add([problem])
    }

    mutating func add(_ found: [Problem]) {
        let room = Self.limit - problems.count
        problems += found.prefix(room)
        omitted += found.dropFirst(room).count
    }

    /// Every problem that was kept and, last, how many were not.
    func summary(for directory: String) -> [Problem] {
        omitted == 0 ? problems : problems + [Self.notice(of: omitted, in: directory)]
    }

    static func notice(of count: Int, in file: String) -> Problem {
        Problem(file: file, message: "\(count) more problem\(count == 1 ? " is" : "s are") not shown")
    }
}

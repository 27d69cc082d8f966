import ArgumentParser
import ControlAPI
import Testing

@testable import lifectl

@Suite struct PlainLineTests {
    @Test(arguments: AppAction.allCases, ["org.example.Clock", "clock/scene-1", "help", "", "a b"])
    func meansWhatArgumentParserMakesOfIt(action: AppAction, id: String) throws {
        let line = try #require(PlainLine([action.rawValue, id]))
        #expect(line.action == action && line.app == id)
        let command = try Lifectl.parseAsRoot([action.rawValue, id])
        let (app, options): (AppArgument, GlobalOptions)
        switch (action, command) {
        case (.focus, let focus as Focus): (app, options) = (focus.app, focus.options)
        case (.suspend, let suspend as Suspend): (app, options) = (suspend.app, suspend.options)
        case (.resume, let resume as Resume): (app, options) = (resume.app, resume.options)
        case (.terminate, let terminate as Terminate): (app, options) = (terminate.app, terminate.options)
        case (.kill, let kill as Kill): (app, options) = (kill.app, kill.options)
        default: throw Failure(status: .usage, message: "\(action) is \(command)")
        }
        #expect(app.id == line.app)
        #expect(options.callOptions == CallOptions())
    }

    @Test(arguments: [
        [], ["focus"], ["focus", "-h"], ["focus", "--help"], ["focus", "--"], ["focus", "a", "b"], ["--json", "focus"],
        ["launch", "a"], ["list", "--json"], ["focus", "a", "--json"], ["foc", "a"],
    ])
    func leavesTheRestToArgumentParser(words: [String]) {
        #expect(PlainLine(words) == nil)
    }
}

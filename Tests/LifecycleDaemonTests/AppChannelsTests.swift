import Glibc
import Processes
import Systemd
import Testing

@testable import LifecycleCore
@testable import LifecycleDaemon

@Suite struct AppChannelsTests {
    private static let clock = AppID("clock")

    private let events: Events
    private let core: CoreDriver
    private let channels: AppChannels

    init() throws {
        events = try Events()
        core = try CoreDriver.knowing(Self.clock, in: events)
        let journal = RecordingJournal()
        let exits = ExitHistory(
            store: core.store, directory: AppRecords.Directory(path: "/nowhere", isSystem: false, log: journal))
        let catalog = AppCatalog(
            entries: nil, accounts: UserAccounts(), driver: core, exits: exits, log: journal)
        let processes = try AppProcesses(core: core, table: ProcessTable(), log: journal)
        channels = AppChannels(core: core, catalog: catalog, processes: processes, log: journal)
    }

    /// Lets the app be one that has lost its channel and is expected to reconnect.
    private func expectReconnection() {
        var engine = core.core
        engine.change(AppIndex(value: 0)) { app, _ in app.channel = .reconnecting(mayHaveReceivedNext: false) }
        core.restore(engine)
    }

    /// Opens a channel, sends a line as the app, and returns the answer.
    private func answer(to line: String) throws -> String {
        let number = try #require(openChannel())
        let app = Descriptor(owning: number)
        let bytes = Array(line.utf8)
        #expect(unsafe Glibc.write(app.rawValue, bytes, bytes.count) == bytes.count)
        let limit = try events.loop.timer { events.loop.exit(code: 0) }
        limit.arm(afterMicroseconds: 200_000)
        _ = try events.runGuarded(handler: handle)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(app.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    private func handle(_ event: DaemonEvent) {
        guard case .channel(let app, let ready) = event else { return }
        channels.proceed(with: app, ready)
        channels.confirm()
    }

    private func openChannel() -> Int32? {
        switch channels.open(AppIndex(value: 0), launched: Instant(microseconds: 7)) {
        case .some(let descriptor): dup(descriptor.rawValue)
        case .none: nil
        }
    }

    @Test func firstHelloIsWelcomedReportedAndSaved() throws {
        #expect(try answer(to: "hello protocol=1\n").hasPrefix("welcome "))
        guard case .message(AppIndex(value: 0), .hello)? = core.inbox.first, core.inbox.count == 1 else {
            Issue.record("\(core.inbox)")
            return
        }
        let saved = ChannelProgress(try #require(core.store.state[.channel, Self.clock]))
        #expect(saved.version == 1 && saved.launched == Instant(microseconds: 7) && saved.process == getpid())
    }

    @Test func helloOfAProcessThatDoesNotSpeakForTheAppIsUnmanaged() throws {
        var policy = Policy()
        policy.callbacks = .none
        core.append(.define(Self.clock, policy))
        core.handleInputs { _ in }
        #expect(try answer(to: "hello protocol=1\n") == "unmanaged\n")
        #expect(core.inbox.isEmpty && core.store.state[.channel, Self.clock] == nil)
    }

    @Test func helloOfAReconnectingAppIsReportedWithItsLastCallback() throws {
        expectReconnection()
        #expect(try answer(to: "hello protocol=1 resume=7\n").hasPrefix("welcome "))
        guard case .message(AppIndex(value: 0), .reconnected(lastSequence: 7))? = core.inbox.first else {
            Issue.record("\(core.inbox)")
            return
        }
    }

    @Test func restoredChannelIsWelcomedUnlessTheAppHasClosedIt() throws {
        let app = AppIndex(value: 0)
        for isClosed in [false, true] {
            var ends: [Int32] = [-1, -1]
            #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            if isClosed { Glibc.close(ends[1]) }
            channels.restore(
                Descriptor(owning: ends[0]), of: app, progress: ChannelProgress(version: 1, toldSequence: 7))
            #expect(channels.welcomeAgain(app) == (isClosed ? nil : 7))
            if !isClosed { Glibc.close(ends[1]) }
        }
    }

    @Test(arguments: [false, true]) func ofTwoStoredChannelsTheOneThatIsOpenIsTaken(isNewestFirst: Bool) throws {
        var (former, current): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &former) == 0)
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &current) == 0)
        Glibc.close(former[1])
        defer { Glibc.close(current[1]) }
        let token = LaunchToken.random()
        let name = DescriptorStore.name(of: token)
        var passed = [former[0], current[0]].map { PassedDescriptor(name: name, descriptor: $0) }
        if isNewestFirst { passed.reverse() }
        let stored = StoredDescriptors(from: &passed)
        let number = current[0]
        switch stored.takeChannel(of: token) {
        case .some(let taken): #expect(taken.rawValue == number)
        case .none: Issue.record("no channel was stored")
        }
    }

    /// Connects as an adopted app, and sends bytes.
    private func connect(sending text: String, isNew: Bool = false) -> Int32 {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #expect(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        channels.connect(Descriptor(owning: ends[0]), of: AppIndex(value: 0), connectedBy: getpid(), isNew: isNew)
        let bytes = Array(text.utf8)
        #expect(unsafe Glibc.write(ends[1], bytes, bytes.count) == bytes.count)
        return ends[1]
    }

    @Test(arguments: [false, true]) func onlyTheFirstHelloOfANewlyAdoptedAppIsItsFirst(isDismissed: Bool) throws {
        let first = connect(
            sending: "hello protocol=1\n" + (isDismissed ? String(repeating: "?\n", count: 16) : ""), isNew: true)
        if !isDismissed { Glibc.close(first) }
        defer { if isDismissed { Glibc.close(first) } }
        var second: Int32 = -1
        defer { Glibc.close(second) }
        var answered: IOSource?
        _ = try events.runGuarded {
            handle($0)
            guard second < 0, case .message(_, .closed)? = core.inbox.last else { return }
            expectReconnection()
            second = connect(sending: "hello protocol=1 resume=3\n")
            answered = try? events.loop.watch(descriptor: second, events: .readable) { _ in events.loop.exit(code: 0) }
        }
        answered?.cancel()
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(second, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        let answer = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        #expect(answer.hasPrefix(isDismissed ? "goodbye " : "welcome "))
        let isReconnected =
            if case .message(_, .reconnected(lastSequence: 3))? = core.inbox.last { true } else { false }
        #expect(isReconnected == !isDismissed)
        #expect(core.inbox.count == (isDismissed ? 2 : 3))
    }

    @Test func helloOfAnAppThatIsNotExpectedEndsTheChannel() throws {
        #expect(try answer(to: "hello protocol=1 resume=7\n").hasPrefix("goodbye "))
        #expect(core.inbox.isEmpty)
    }
}

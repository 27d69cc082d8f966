import AppChannel
import LifecycleClient
import LifecycleTypes
import TestSupport
import Testing

/// A session and a daemon that dies at random instants, with whatever was on its way.
@Suite struct RestartSimulationTests {
    @Test(arguments: 0..<300 as Range<UInt64>)
    func everyCallbackArrivesOnceAndBothSidesAgreeOnAssertionsAndScene(seed: UInt64) throws {
        var simulation = RestartSimulation(seed: seed)
        for _ in 0..<200 { try simulation.step() }
        try simulation.settle()
        #expect(simulation.told == simulation.sent, "seed \(seed)")
        #expect(simulation.daemon.holds == simulation.held, "seed \(seed)")
        #expect(simulation.daemon.outstanding == nil, "seed \(seed)")
        #expect(simulation.daemon.isSceneClosed == simulation.isSceneClosed, "seed \(seed)")
        // What a scene shows that is to be closed is of no interest any more.
        if !simulation.isSceneClosed { #expect(simulation.daemon.info == simulation.info, "seed \(seed)") }
    }
}

private struct RestartSimulation {
    /// What a daemon has on disk.
    struct Daemon {
        var holds: Set<AssertionID> = []
        var outstanding: CallbackMessage?
        var lastSequence: Int64 = 0
        var hasHeardHello = false
        var info: String?
        var isSceneClosed = false
    }

    var daemon = Daemon()
    var session = AppSession(hasChannel: true, canResume: true)
    var held: Set<AssertionID> = []
    var sent: [Int64] = []
    var told: [Int64] = []
    /// What the app has said of its scene, and whether it wants to be rid of it.
    var info: String?
    var isSceneClosed = false
    private var generator: SeededGenerator
    private var unanswered: [CallbackMessage] = []
    /// No daemon dies any more.
    private var isSettling = false
    private var toApp: [UInt8] = []
    private var toDaemon: [UInt8] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: begin()
        case 1: end()
        case 2: try call()
        case 3, 4: answer()
        case 5, 6, 7: try deliver(toApp.isEmpty ? 0 : Int.random(in: 1...toApp.count, using: &generator))
        case 8, 9, 10: try hear()
        case 12: try setInfo()
        case 13 where Int.random(in: 0..<20, using: &generator) == 0: closeScene()
        case 11 where Bool.random(using: &generator): try endChannel()
        default: try replaceDaemon()
        }
    }

    /// Lets both sides come to an end with what they have begun, after a last restart.
    mutating func settle() throws {
        try replaceDaemon()
        isSettling = true
        for _ in 0..<20 {
            try deliver(toApp.count)
            while !unanswered.isEmpty { answer() }
            while !toDaemon.isEmpty || !session.output.isEmpty { try hear() }
        }
    }

    // MARK: - The app

    private mutating func begin() {
        guard held.count < 10 else { return }
        let isTask = Bool.random(using: &generator)
        held.insert(isTask ? session.beginTask(name: "a") : session.beginActivity(mode: "audio"))
    }

    private mutating func end() {
        guard let id = held.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &generator) else { return }
        held.remove(id)
        session.endTask(id)
        session.endActivity(id)
    }

    private mutating func setInfo() throws {
        guard !session.allScenes.isEmpty, !isSceneClosed else { return }
        info = "\(Int.random(in: 0..<1000, using: &generator))"
        try session.setSceneInfo(info, of: .main)
    }

    private mutating func closeScene() {
        guard !session.allScenes.isEmpty else { return }
        isSceneClosed = true
        session.closeScene(.main)
    }

    private mutating func answer() {
        guard !unanswered.isEmpty else { return }
        session.answer(unanswered.removeFirst())
    }

    private mutating func deliver(_ count: Int) throws {
        session.receive(toApp.prefix(count), now: 0)
        toApp.removeFirst(count)
        while let event = session.next() {
            guard case .callback(let callback) = event else { continue }
            told.append(callback.sequence.rawValue)
            unanswered.append(callback)
        }
    }

    // MARK: - The daemon

    private mutating func say(_ message: MessageToApp) throws {
        toApp += try message.encoded()
    }

    private mutating func call() throws {
        guard daemon.outstanding == nil else { return }
        daemon.lastSequence += 1
        sent.append(daemon.lastSequence)
        // The first of all connects a scene.
        let callback = CallbackMessage(
            daemon.lastSequence == 1 ? .sceneWillConnect : .sceneDidBecomeActive,
            sequence: SequenceNumber(rawValue: daemon.lastSequence), deadlineMilliseconds: 1, state: .active,
            fields: SceneConnectionFields(scene: .main, reason: "user").fields)
        daemon.outstanding = callback
        try say(.callback(callback))
    }

    /// Takes a line from the app; one in ten is read and lost with the daemon that read it.
    private mutating func hear() throws {
        toDaemon += session.output
        session.didSend(session.output.count)
        guard let end = toDaemon.firstIndex(of: UInt8(ascii: "\n")) else { return }
        let message = try MessageFromApp(parsing: toDaemon[..<end])
        toDaemon.removeSubrange(...end)
        if !isSettling, !isHello(message), Int.random(in: 0..<10, using: &generator) == 0 { return try replaceDaemon() }
        switch message {
        case .hello:
            daemon.hasHeardHello = true
            try say(.welcome(version: 1, appID: "x"))
            if let callback = daemon.outstanding { try say(.callback(callback)) }
        case .done(let sequence, _): if daemon.outstanding?.sequence == sequence { daemon.outstanding = nil }
        case .beginTask(let id, _), .beginActivity(let id, _):
            daemon.holds.insert(id)
            try say(.granted(id))
        case .endTask(let id), .endActivity(let id): daemon.holds.remove(id)
        case .sceneInfo(_, let info): daemon.info = info
        case .closeScene: daemon.isSceneClosed = true
        case .openScene, .timeLeft: break
        }
    }

    private func isHello(_ message: MessageFromApp) -> Bool {
        if case .hello = message { true } else { false }
    }

    /// The next daemon has the channel and what is on its way, and repeats what may be lost; the app may have been in the
    /// middle of anything.
    private mutating func replaceDaemon() throws {
        guard daemon.hasHeardHello else { return }
        toApp.append(UInt8(ascii: "\n"))
        try say(.welcome(version: 1, appID: "x"))
        if let callback = daemon.outstanding { try say(.callback(callback)) }
    }

    /// The channel goes with all that is on its way but a part that has arrived.
    private mutating func endChannel() throws {
        guard session.isOpen else { return }
        try deliver(toApp.isEmpty ? 0 : Int.random(in: 0...toApp.count, using: &generator))
        toApp = []
        toDaemon = []
        daemon.hasHeardHello = false
        session.channelDidEnd()
        session.resume()
    }
}

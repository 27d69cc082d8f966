import LifecycleCore

/// The words of an input line.
struct TranscriptWords {
    enum Mistake: Error, CustomStringConvertible {
        case unknown(String)
        case missing(String)
        case unread(Substring)

        var description: String {
            switch self {
            case .unknown(let word): "unknown word \(word)"
            case .missing(let what): "missing \(what)"
            case .unread(let rest): "unread words \(rest)"
            }
        }
    }

    private var rest: ArraySlice<Substring>

    init(_ line: String) { rest = line.split(separator: " ")[...] }

    mutating func next() -> String? { rest.popFirst().map(String.init) }

    mutating func text(_ what: String) throws(Mistake) -> String {
        guard let word = next() else { throw .missing(what) }
        return word
    }

    mutating func app() throws(Mistake) -> AppID { AppID(try text("app")) }

    mutating func scene() throws(Mistake) -> SceneID {
        guard let scene = SceneID(try text("scene")) else { throw .missing("scene") }
        return scene
    }

    mutating func number() throws(Mistake) -> UInt64 {
        guard let number = UInt64(try text("number")) else { throw .missing("number") }
        return number
    }

    /// A value whose raw value is the next word.
    mutating func word<Value: RawRepresentable<String>>(_ type: Value.Type = Value.self) throws(Mistake) -> Value {
        let word = try text("\(type)")
        guard let value = Value(rawValue: word) else { throw .unknown(word) }
        return value
    }

    /// A number with `ms`, `s` or `h`.
    mutating func duration() throws(Mistake) -> Duration {
        let word = try text("duration")
        let digits = word.prefix { $0.isNumber }
        guard let number = Int64(digits) else { throw .unknown(word) }
        switch word.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s": return .seconds(number)
        case "h": return .seconds(number * 3600)
        default: throw .unknown(word)
        }
    }

    /// A Boolean value that indicates whether the next word is this one, which is then read.
    mutating func has(_ word: String) -> Bool {
        guard rest.first == word[...] else { return false }
        rest.removeFirst()
        return true
    }

    /// All words that are left, as values of this type.
    mutating func all<Value: RawRepresentable<String>>(_ type: Value.Type) throws(Mistake) -> [Value] {
        var values: [Value] = []
        while !rest.isEmpty { values.append(try word(type)) }
        return values
    }

    mutating func apps() -> [AppID] {
        defer { rest = [] }
        return rest.map { AppID(String($0)) }
    }

    func finish() throws(Mistake) {
        if !rest.isEmpty { throw .unread(rest.joined(separator: " ")[...]) }
    }
}

/// The input lines of transcripts.
extension World {
    /// Plays one input line.
    mutating func play(_ words: inout TranscriptWords) throws(TranscriptWords.Mistake) {
        let verb = try words.text("verb")
        if try !playSetting(verb, &words), try !playRequest(verb, &words), try !playSceneRequest(verb, &words),
            try !playMessage(verb, &words), try !playEvent(verb, &words), try !playQuestion(verb, &words)
        {
            throw .unknown(verb)
        }
        try words.finish()
    }

    // MARK: What there is

    private mutating func playSetting(
        _ verb: String, _ words: inout TranscriptWords
    ) throws(TranscriptWords.Mistake) -> Bool {
        switch verb {
        case "settings": give(.configure(try settings(&words)))
        case "define":
            let id = try words.app()
            give(.define(id, try policy(&words)))
        case "forget": give(.forget(try words.app()))
        case "connects": linked.formUnion(words.apps())
        case "silent":
            let id = try words.app()
            silent[id] = Set(try words.all(Callback.self))
        case "ignores-sigterm": stubborn.formUnion(words.apps())
        case "cannot-start": broken.formUnion(words.apps())
        case "can-start": broken.subtract(words.apps())
        case "withhold": withholding = Set(try words.all(Withheld.self))
        case "memory-stays": looks = try words.all(MemoryLevel.self)
        default: return false
        }
        return true
    }

    private func settings(_ words: inout TranscriptWords) throws(TranscriptWords.Mistake) -> Settings {
        var settings = core.settings
        while let word = words.next() {
            let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, let number = Int(pair[1]) else { throw .unknown(word) }
            switch pair[0] {
            case "foreground-limit": settings.foregroundLimit = number
            case "suspended-limit": settings.suspendedLimit = number
            default: throw .unknown(word)
            }
        }
        return settings
    }

    private func policy(_ words: inout TranscriptWords) throws(TranscriptWords.Mistake) -> Policy {
        var policy = Policy(timeouts: core.settings.timeouts)
        while let word = words.next() {
            let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
            var value = TranscriptWords(pair.count == 2 ? pair[1] : "")
            switch pair[0] {
            case "suspend": policy.suspend = try value.word()
            case "callbacks": policy.callbacks = try value.word()
            case "modes": policy.backgroundModes = Set(pair[1].split(separator: ",").map(String.init))
            case "scenes": policy.scenes = true
            case "scene-limit": policy.sceneLimit = Int(clamping: try value.number())
            case "restart": policy.restart = try value.word()
            case "on-exit": policy.onExit = try value.word()
            case "takes-urls": policy.takesURLs = true
            default: throw .unknown(word)
            }
        }
        return policy
    }

    // MARK: Requests

    private mutating func playRequest(
        _ verb: String, _ words: inout TranscriptWords
    ) throws(TranscriptWords.Mistake) -> Bool {
        switch verb {
        case "launch": ask(.launch(try words.app(), background: words.has("background")))
        case "focus": ask(.focus(try words.app()))
        case "background": ask(.background(try words.app()))
        case "home": ask(.home)
        case "suspend": ask(.suspend(try words.app(), now: words.has("now")))
        case "resume": ask(.resume(try words.app()))
        case "terminate": ask(.terminate(try words.app()))
        case "kill": ask(.kill(try words.app()))
        case "begin-interruption": ask(.beginInterruption(try words.text("name")))
        case "end-interruption":
            ask(.endInterruption(try words.text("name"), answer: words.next().map { AppID($0) }))
        case "machine": ask(.machine(try words.word()))
        case "open": ask(.deliver(try words.app(), .openURL(try words.text("URL"), type: words.next())))
        case "perform-task": ask(.deliver(try words.app(), .performTask(kind: try words.text("kind"), payload: "")))
        case "wake": ask(.wake(try words.app(), kind: try words.text("kind"), payload: ""))
        case "simulate-memory": ask(.memoryPressure(try words.word(), all: words.has("all")))
        default: return false
        }
        return true
    }

    private mutating func playSceneRequest(
        _ verb: String, _ words: inout TranscriptWords
    ) throws(TranscriptWords.Mistake) -> Bool {
        switch verb {
        case "open-scene":
            let id = try words.app()
            var (opening, background) = (SceneOpening(), false)
            while let word = words.next() {
                let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
                switch pair[0] {
                case "background": background = true
                case "role" where pair.count == 2: opening.role = pair[1]
                case "info" where pair.count == 2: opening.info = pair[1]
                default: opening.scene = SceneID(word)
                }
            }
            ask(.openScene(id, opening, background: background))
        case "focus-scene": ask(.focusScene(try words.app(), try words.scene()))
        case "background-scene": ask(.backgroundScene(try words.app(), try words.scene()))
        case "close-scene": ask(.closeScene(try words.app(), try words.scene()))
        default: return false
        }
        return true
    }

    // MARK: What apps say

    private mutating func playMessage(
        _ verb: String, _ words: inout TranscriptWords
    ) throws(TranscriptWords.Mistake) -> Bool {
        switch verb {
        case "hello":
            let id = try words.app()
            give(.hello, from: id)
        case "answer": answer(try words.app(), try answer(&words))
        case "answer-all": answerAll(try words.app())
        case "begin-task":
            let id = try words.app()
            give(.beginTask(try words.number(), name: try words.text("name")), from: id)
        case "begin-activity":
            let id = try words.app()
            give(.beginActivity(try words.number(), mode: try words.text("mode")), from: id)
        case "end":
            let id = try words.app()
            give(.endAssertion(try words.number()), from: id)
        case "ask-time-left":
            let id = try words.app()
            give(.timeLeft, from: id)
        case "say-scene-info":
            let id = try words.app()
            give(.sceneInfo(try words.scene(), words.next()), from: id)
        case "disconnect":
            let id = try words.app()
            give(.closed, from: id)
        default: return false
        }
        return true
    }

    private func answer(_ words: inout TranscriptWords) throws(TranscriptWords.Mistake) -> AppAnswer {
        guard let word = words.next() else { return .plain }
        switch word {
        case "handled": return .handled(true)
        case "declined": return .handled(false)
        default:
            guard let result = TaskResult(rawValue: word) else { throw .unknown(word) }
            return .result(result)
        }
    }

    // MARK: What happens

    private mutating func playEvent(
        _ verb: String, _ words: inout TranscriptWords
    ) throws(TranscriptWords.Mistake) -> Bool {
        switch verb {
        case "pass": pass(try words.duration())
        case "memory": give(.memory(MemoryShortage(try words.word(), someWaited: 50_00)))
        case "use": give(.setUses(try words.word(), Set(words.apps())))
        case "shut-down": give(.shutDown)
        case "outcome":
            let id = try words.app()
            give(try outcome(&words), of: id)
        default: return false
        }
        return true
    }

    private func outcome(_ words: inout TranscriptWords) throws(TranscriptWords.Mistake) -> Outcome {
        switch try words.text("outcome") {
        case "spawned": return .spawned
        case "stopped": return .stopped
        case "resumed": return .resumed
        case "resumed-by-other": return .resumedByOther
        case "stopped-by-other": return .stoppedByOther
        case "signal-pending": return .signalPending
        case "gone": return .gone
        case "keeper-ended": return .keeperEnded
        case "exited":
            let code = try words.number()
            return .exited(.code(Int32(clamping: code)), othersLeft: words.has("others-left"))
        case "killed":
            let signal = try words.number()
            return .exited(.signal(Int32(clamping: signal)), othersLeft: words.has("others-left"))
        case let word: throw .unknown(word)
        }
    }

    // MARK: Questions

    /// Writes a line about what the core knows.
    private mutating func playQuestion(
        _ verb: String, _ words: inout TranscriptWords
    ) throws(TranscriptWords.Mistake) -> Bool {
        switch verb {
        case "state":
            for id in words.apps() {
                let app = core.knownApps[id]
                transcript.append(app.map { "\(id) is \($0.state.rawValue) (\($0.reason))" } ?? "\(id) is unknown")
            }
        case "last-exit":
            let id = try words.app()
            let exit = core.knownApps[id]?.lastExit
            let ended = exit.map { "\(id) ended from \($0.state.rawValue) (\($0.reason))" }
            transcript.append(ended ?? "\(id) has not ended")
        case "scenes":
            let id = try words.app()
            for (scene, state) in scenes(id.name).sorted(by: { $0.key < $1.key }) {
                transcript.append("\(id)/\(scene) is \(state.rawValue)")
            }
        case "last-reply":
            let last = replies.max { $0.key < $1.key }
            transcript.append(last.map { "reply \($0.key): \($0.value.summary)" } ?? "there is no reply")
        case "interruptions":
            for name in core.interruptions { transcript.append("\(name) interrupts") }
            if core.interruptions.isEmpty { transcript.append("nothing interrupts") }
        case "deadline":
            let time = core.nextDeadline?.duration(since: now)
            transcript.append(time.map { "the next deadline is in \($0)" } ?? "there is no deadline")
        default: return false
        }
        return true
    }
}

extension Reply {
    /// The reply with the app or the refusal that it names.
    fileprivate var summary: String {
        switch self {
        case .done(let app?): "done, \(app.id) is \(app.state.rawValue)"
        case .refused(let refusal): "refused, \(refusal)"
        case .done(nil), .reclaimed, .scene, .ended: name
        }
    }
}

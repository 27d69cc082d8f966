import AppChannel
import LifecycleTypes
import Testing

/// The lines as `docs/apps/protocol.md` has them.
@Suite struct MessageTests {
    @Test(
        arguments: [
            ("hello protocol=1", .hello(version: 1, resume: nil)),
            ("hello protocol=1 resume=0", .hello(version: 1, resume: SequenceNumber(rawValue: 0))),
            ("hello protocol=1 resume=7", .hello(version: 1, resume: SequenceNumber(rawValue: 7))),
            ("done seq=1", .done(SequenceNumber(rawValue: 1), .plain)),
            ("done seq=1 handled=no", .done(SequenceNumber(rawValue: 1), .handled(false))),
            ("done seq=1 handled=yes", .done(SequenceNumber(rawValue: 1), .handled(true))),
            ("done seq=1 result=new-data", .done(SequenceNumber(rawValue: 1), .result(.newData))),
            ("done seq=1 result=no-data", .done(SequenceNumber(rawValue: 1), .result(.noData))),
            ("done seq=1 result=failed", .done(SequenceNumber(rawValue: 1), .result(.failed))),
            ("begin-task id=1 name=upload", .beginTask(AssertionID(rawValue: 1), name: "upload")),
            ("end-task id=1", .endTask(AssertionID(rawValue: 1))),
            ("begin-activity id=2 mode=audio", .beginActivity(AssertionID(rawValue: 2), mode: "audio")),
            ("time-left", .timeLeft),
            ("end-activity id=2", .endActivity(AssertionID(rawValue: 2))),
            ("open-scene", .openScene(nil, role: nil, info: nil)),
            ("open-scene scene=scene-2 role=tool info=%7B%7D", .openScene(sceneTwo, role: "tool", info: "{}")),
            ("close-scene scene=scene-2", .closeScene(sceneTwo)),
            ("scene-info scene=scene-2", .sceneInfo(sceneTwo, info: nil)),
            ("scene-info scene=scene-2 info=page%204", .sceneInfo(sceneTwo, info: "page 4")),
        ] as [(String, MessageFromApp)])
    func `an app's messages are the page's lines`(line: String, message: MessageFromApp) throws {
        #expect(try MessageFromApp(parsing: bytes(line)) == message)
        #expect(text(try message.encoded()) == line + "\n")
    }

    @Test(
        arguments: [
            ("welcome protocol=1 app-id=org.example.Clock", .welcome(version: 1, appID: "org.example.Clock")),
            (
                "will-finish-launching seq=1 deadline-ms=20000 state=inactive reason=launch",
                .callback(
                    CallbackMessage(
                        .willFinishLaunching, sequence: SequenceNumber(rawValue: 1), deadlineMilliseconds: 20000,
                        state: .inactive, fields: [Field("reason", "launch")]))
            ),
            (
                "did-become-active seq=3 deadline-ms=5000 state=active",
                .callback(
                    CallbackMessage(
                        .didBecomeActive, sequence: SequenceNumber(rawValue: 3), deadlineMilliseconds: 5000,
                        state: .active)
                )
            ),
            (
                "open-url seq=4 deadline-ms=5000 state=inactive url=https://example.org/%3Fa%3Db type=text/html source=mail",
                .callback(
                    CallbackMessage(
                        .openURL, sequence: SequenceNumber(rawValue: 4), deadlineMilliseconds: 5000, state: .inactive,
                        fields: OpenURLFields(url: "https://example.org/?a=b", type: "text/html", source: "mail").fields
                    ))
            ),
            (
                "continue-activity seq=5 deadline-ms=5000 state=inactive type=org.example.read info=%7B%7D",
                .callback(
                    CallbackMessage(
                        .continueActivity, sequence: SequenceNumber(rawValue: 5), deadlineMilliseconds: 5000,
                        state: .inactive, fields: ContinueActivityFields(type: "org.example.read", info: "{}").fields))
            ),
            (
                "perform-task seq=6 deadline-ms=30000 state=background kind=fetch payload=new%20mail",
                .callback(
                    CallbackMessage(
                        .performTask, sequence: SequenceNumber(rawValue: 6), deadlineMilliseconds: 30000,
                        state: .background, fields: PerformTaskFields(kind: "fetch", payload: "new mail").fields))
            ),
            (
                "protected-data-will-become-unavailable seq=7 deadline-ms=5000 state=background",
                .callback(
                    CallbackMessage(
                        .protectedDataWillBecomeUnavailable, sequence: SequenceNumber(rawValue: 7),
                        deadlineMilliseconds: 5000, state: .background))
            ),
            (
                "scene-will-connect seq=8 deadline-ms=5000 state=inactive scene=scene-2 role=window reason=restoration info=page%204",
                .callback(
                    CallbackMessage(
                        .sceneWillConnect, sequence: SequenceNumber(rawValue: 8), deadlineMilliseconds: 5000,
                        state: .inactive,
                        fields: SceneConnectionFields(scene: sceneTwo, reason: "restoration", info: "page 4").fields))
            ),
            (
                "scene-did-become-active seq=9 deadline-ms=5000 state=active scene=scene-2",
                .callback(
                    CallbackMessage(
                        .sceneDidBecomeActive, sequence: SequenceNumber(rawValue: 9), deadlineMilliseconds: 5000,
                        state: .active, fields: .scene(sceneTwo)))
            ),
            (
                "scene-did-disconnect seq=10 deadline-ms=5000 state=background scene=scene-2 reason=closed",
                .callback(
                    CallbackMessage(
                        .sceneDidDisconnect, sequence: SequenceNumber(rawValue: 10), deadlineMilliseconds: 5000,
                        state: .background,
                        fields: SceneDisconnectionFields(scene: sceneTwo, reason: "closed").fields))
            ),
            ("granted id=1", .granted(AssertionID(rawValue: 1))),
            ("granted id=1 time-left-ms=29500", .granted(AssertionID(rawValue: 1), timeLeftMilliseconds: 29500)),
            ("time-left", .timeLeft(milliseconds: nil)),
            ("time-left time-left-ms=29500", .timeLeft(milliseconds: 29500)),
            (
                "mistake reason=missing-field verb=begin-task key=name",
                .mistake(Mistake(.missingField, verb: "begin-task", key: "name"))
            ),
            ("mistake reason=empty-line", .mistake(Mistake(.emptyLine))),
            ("refused id=1 reason=too-many-tasks", .refused(AssertionID(rawValue: 1), reason: RefusalReason(.tooMany))),
            ("expire-task id=1 deadline-ms=5000", .expireTask(AssertionID(rawValue: 1), deadlineMilliseconds: 5000)),
            ("goodbye reason=too-many-mistakes", .goodbye(reason: .tooManyMistakes)),
        ] as [(String, MessageToApp)])
    func `the daemon's messages are the page's lines`(line: String, message: MessageToApp) throws {
        #expect(try MessageToApp(parsing: bytes(line)) == message)
        #expect(text(try message.encoded()) == line + "\n")
    }

    @Test func `order and unknown fields do not matter`() throws {
        #expect(
            try fromApp("done colour=red handled=yes seq=7").get() == .done(SequenceNumber(rawValue: 7), .handled(true))
        )
        let callback = try toApp("will-resign-active state=active extra=1 deadline-ms=1 seq=2").get()
        guard case .callback(let callback) = callback else {
            Issue.record("\(callback)")
            return
        }
        #expect(callback.fields == [Field("extra", "1")])
    }

    @Test func `a callback of a later version can be answered`() {
        #expect(toApp("receive-shadow seq=9 url=x") == .success(.unknownCallback(SequenceNumber(rawValue: 9))))
        #expect(toApp("receive-shadow url=x") == .failure(.unknownVerb("receive-shadow")))
        #expect(toApp("receive-shadow seq=x") == .failure(.notANumber(key: "seq")))
    }

    @Test(
        arguments: [
            ("hello", .missingField(key: "protocol")), ("hello protocol=", .notANumber(key: "protocol")),
            ("hello protocol=one", .notANumber(key: "protocol")),
            ("hello protocol=1 resume=-1", .notANumber(key: "resume")), ("done", .missingField(key: "seq")),
            ("done seq=-1", .notANumber(key: "seq")), ("done seq=+1", .notANumber(key: "seq")),
            ("done seq=1.0", .notANumber(key: "seq")), ("done seq=0x1", .notANumber(key: "seq")),
            ("done seq=9223372036854775808", .notANumber(key: "seq")),
            ("done seq=99999999999999999999999999", .notANumber(key: "seq")),
            ("done seq=%D9%A1", .notANumber(key: "seq")),
            ("done seq=1 handled=maybe", .unknownValue(key: "handled")),
            ("done seq=1 result=maybe", .unknownValue(key: "result")),
            ("begin-task id=1", .missingField(key: "name")),
            ("begin-task name=x", .missingField(key: "id")), ("begin-activity id=1", .missingField(key: "mode")),
            ("open-scene scene=", .unknownValue(key: "scene")),
            ("open-scene scene=two%20words", .unknownValue(key: "scene")),
            ("open-scene role=two%20words", .unknownValue(key: "role")),
            ("close-scene", .missingField(key: "scene")), ("close-scene scene=a/b", .unknownValue(key: "scene")),
            ("scene-info info=x", .missingField(key: "scene")),
            ("end-task", .missingField(key: "id")), ("end-activity id=", .notANumber(key: "id")),
            ("welcome protocol=1 app-id=x", .unknownVerb("welcome")),
            ("did-become-active", .unknownVerb("did-become-active")),
        ] as [(String, LineError)])
    func `an app's mistakes are named`(line: String, error: LineError) {
        #expect(fromApp(line) == .failure(error))
    }

    @Test(
        arguments: [
            ("", "empty-line", nil, nil), (" ", "malformed-verb", nil, nil), ("Done seq=1", "malformed-verb", nil, nil),
            ("done seq=1 ", "malformed-field", "done", nil),
            ("begin-task id=1 name", "malformed-field", "begin-task", nil),
            ("begin-task id=1 name=%", "malformed-value", "begin-task", "name"),
            ("begin-task id=1 name=%00", "unusable-text", "begin-task", "name"),
            ("begin-task id=1", "missing-field", "begin-task", "name"),
            ("begin-task id=9223372036854775808 name=x", "not-a-number", "begin-task", "id"),
            ("done seq=1 seq=1", "duplicate-field", "done", "seq"),
            ("done seq=1 handled=maybe", "unknown-value", "done", "handled"),
            ("jump high=1", "unknown-verb", "jump", nil),
            ("jump" + (0...32).map { " k\($0)=" }.joined(), "too-many-fields", "jump", nil),
            (String(repeating: "x", count: 16384), "too-long", nil, nil),
            (String(repeating: "x", count: 65), "unknown-verb", nil, nil),
        ] as [(String, String, String?, String?)])
    func mistakeNamesItsReasonAndVerb(line: String, reason: String, verb: String?, key: String?) {
        guard case .failure(let error) = fromApp(line) else {
            Issue.record("\(line) is no mistake")
            return
        }
        let mistake = Mistake(error, in: bytes(line))
        #expect(mistake == Mistake(MistakeReason(rawValue: reason), verb: verb, key: key))
        #expect(MistakeReason.all.contains(mistake.reason))
    }

    @Test(
        arguments: [
            ("did-become-active deadline-ms=1 state=active", .missingField(key: "seq")),
            ("did-become-active seq=1 state=active", .missingField(key: "deadline-ms")),
            ("did-become-active seq=1 deadline-ms=1", .missingField(key: "state")),
            ("did-become-active seq=1 deadline-ms=1 state=suspended", .unknownValue(key: "state")),
            ("open-url seq=1 deadline-ms=1 state=active", .missingField(key: "url")),
            ("continue-activity seq=1 deadline-ms=1 state=active", .missingField(key: "type")),
            ("perform-task seq=1 deadline-ms=1 state=background", .missingField(key: "kind")),
            ("scene-will-connect seq=1 deadline-ms=1 state=inactive", .missingField(key: "scene")),
            ("scene-did-become-active seq=1 deadline-ms=1 state=active scene=%C3%A9", .unknownValue(key: "scene")),
            ("refused id=1", .missingField(key: "reason")), ("welcome protocol=1", .missingField(key: "app-id")),
            ("hello protocol=1", .unknownVerb("hello")),
        ] as [(String, LineError)])
    func `a daemon's mistakes are named`(line: String, error: LineError) {
        #expect(toApp(line) == .failure(error))
    }

    @Test func `a launch's fields are read as they were written`() throws {
        let launches = [
            LaunchFields(reason: "launch"),
            LaunchFields(reason: "launch", restoreFailed: true, previousReason: "crash"),
            LaunchFields(
                reason: "open-url", restores: true, previousState: "suspended", previousReason: "reclaimed",
                previousTime: 1_790_000_000, url: "https://example.org/"),
        ]
        for launch in launches { #expect(LaunchFields(launch.fields) == launch) }
        let line = "v reason=launch restore=1 previous-state=suspended previous-time=1790000000"
        let fields = try Line(parsing: bytes(line)).fields
        #expect(
            LaunchFields(fields)
                == LaunchFields(
                    reason: "launch", restores: true, previousState: "suspended", previousTime: 1_790_000_000))
        let useless = try Line(parsing: bytes("v previous-time=yesterday restore=maybe")).fields
        #expect(LaunchFields(useless) == LaunchFields(reason: "launch"))
    }

    @Test func fieldsOfURLsActivitiesAndTasksAreReadAsWritten() {
        let urls = [OpenURLFields(url: "x:y"), OpenURLFields(url: "x:y", type: "text/plain", source: "a")]
        for url in urls { #expect(OpenURLFields(url.fields) == url) }
        let activity = ContinueActivityFields(type: "a", info: "{\"b\": 1}")
        #expect(ContinueActivityFields(activity.fields) == activity)
        let task = PerformTaskFields(kind: "fetch", payload: "p")
        #expect(PerformTaskFields(task.fields) == task)
    }

    @Test func fieldsOfScenesAreReadAsWritten() {
        let connections = [
            SceneConnectionFields(scene: sceneTwo, reason: "user"),
            SceneConnectionFields(scene: sceneTwo, role: "inspector", reason: "restoration", info: ""),
        ]
        for connection in connections { #expect(SceneConnectionFields(connection.fields) == connection) }
        let disconnection = SceneDisconnectionFields(scene: sceneTwo, reason: "reclaimed")
        #expect(SceneDisconnectionFields(disconnection.fields) == disconnection)
        #expect(SceneConnectionFields([]) == nil)
        #expect(SceneConnectionFields(.scene(sceneTwo)) == SceneConnectionFields(scene: sceneTwo, reason: "user"))
        #expect(
            SceneDisconnectionFields(.scene(sceneTwo)) == SceneDisconnectionFields(scene: sceneTwo, reason: "closed"))
    }

    @Test(arguments: ["a", "A", "0", "main", "scene-2", "org.example_1", String(repeating: "x", count: 64)])
    func wellFormedSceneIDIsAccepted(text: String) {
        #expect(SceneID(text)?.name == text)
    }

    @Test(arguments: ["", " ", "a b", "a/b", "é", "a\u{0}", "a\n", String(repeating: "x", count: 65)])
    func malformedSceneIDIsRefused(text: String) {
        #expect(SceneID(text) == nil)
    }

    @Test func lineHasRoomForTheLongestInfoOfAScene() throws {
        let word = String(repeating: "x", count: 64)
        let scene = try #require(SceneID(word))
        let info = String(repeating: "\"", count: SceneText.infoLimit)
        let connection = SceneConnectionFields(scene: scene, role: word, reason: "restoration", info: info)
        let callback = CallbackMessage(
            .sceneWillConnect, sequence: SequenceNumber(rawValue: .max), deadlineMilliseconds: .max,
            state: .background, fields: connection.fields)
        #expect(throws: Never.self) { try MessageToApp.callback(callback).encoded() }
        #expect(throws: Never.self) { try MessageFromApp.openScene(scene, role: word, info: info).encoded() }
        let tooLong = try MessageFromApp.sceneInfo(scene, info: info + "x").encoded().dropLast()
        #expect(throws: LineError.unknownValue(key: "info")) { try MessageFromApp(parsing: tooLong) }
    }

    @Test func `the greatest number is 2^63 - 1`() {
        #expect(fromApp("end-task id=9223372036854775807") == .success(.endTask(AssertionID(rawValue: .max))))
        #expect(fromApp("end-task id=000") == .success(.endTask(AssertionID(rawValue: 0))))
    }
}

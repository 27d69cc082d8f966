internal import AppChannel
internal import CAppClient
internal import LifecycleClient
internal import LifecycleHeader
internal import LifecycleTypes

/// The object behind a `struct lifecycle *`: a client, and the functions that get its events.
@safe final class Handle {
    let client: AppClient
    let callbacks: lifecycle_callbacks
    let context: UnsafeMutableRawPointer?
    private var isDispatching = false
    private var isClosed = false
    /// The work without a result.
    private var work: [CallbackMessage] = []

    init(_ client: AppClient, _ callbacks: lifecycle_callbacks, _ context: UnsafeMutableRawPointer?) {
        self.client = client
        self.callbacks = callbacks
        unsafe self.context = context
    }

    func close() {
        isClosed = true
        client.close()
    }

    /// Calls the functions that are due. A call from one of them does nothing.
    func dispatch() {
        guard !isDispatching, !isClosed else { return }
        isDispatching = true
        defer { isDispatching = false }
        client.receive()
        while !isClosed, let event = client.nextEvent() { deliver(event) }
    }

    private func deliver(_ event: AppSessionEvent) {
        switch event {
        case .callback(let callback):
            let answer = deliver(callback)
            if let answer, !isClosed { client.answer(callback, answer) }
        case .expire(let id, _):
            unsafe callbacks.task_expired?(context, id.rawValue)
        case .refused(let id, let reason):
            let texts = CTexts()
            withExtendedLifetime(texts) {
                unsafe callbacks.refused?(context, id.rawValue, texts.add(reason.rawValue))
            }
        case .terminate:
            unsafe callbacks.will_terminate?(context)
            // A second SIGTERM ends a program that does not end by itself.
            client.releaseTermination()
        }
    }

    /// Returns the answer; nil if it comes later.
    private func deliver(_ callback: CallbackMessage) -> AppAnswer? {
        switch callback.kind {
        case .willFinishLaunching: return unsafe launch(callback, callbacks.will_finish_launching)
        case .didFinishLaunching: return unsafe launch(callback, callbacks.did_finish_launching)
        case .openURL: return .handled(open(OpenURLFields(callback.fields)))
        case .continueActivity: return .handled(continueActivity(ContinueActivityFields(callback.fields)))
        case .performTask: return perform(callback)
        case .didBecomeActive: unsafe callbacks.did_become_active?(context)
        case .willResignActive: unsafe callbacks.will_resign_active?(context)
        case .didEnterBackground: unsafe callbacks.did_enter_background?(context)
        case .willEnterForeground: unsafe callbacks.will_enter_foreground?(context)
        case .memoryWarning: unsafe callbacks.did_receive_memory_warning?(context)
        case .protectedDataWillBecomeUnavailable: unsafe callbacks.protected_data_will_become_unavailable?(context)
        case .protectedDataDidBecomeAvailable: unsafe callbacks.protected_data_did_become_available?(context)
        case .significantTimeChange: unsafe callbacks.significant_time_change?(context)
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            deliverToScene(callback)
        }
        return .plain
    }

    private typealias LaunchFunction =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<lifecycle_launch>?) -> Bool

    private func launch(_ callback: CallbackMessage, _ function: LaunchFunction?) -> AppAnswer {
        guard let function = unsafe function else { return .plain }
        let fields = LaunchFields(callback.fields)
        let texts = CTexts()
        return withExtendedLifetime(texts) {
            var launch = unsafe lifecycle_launch(
                reason: texts.add(fields.reason), restore: fields.restores,
                previous_state: texts.add(fields.previousState), previous_reason: texts.add(fields.previousReason),
                previous_time: fields.previousTime ?? -1, url: texts.add(fields.url),
                restore_failed: fields.restoreFailed)
            return unsafe function(context, &launch) ? .plain : .handled(false)
        }
    }

    private func open(_ fields: OpenURLFields) -> Bool {
        let texts = CTexts()
        return withExtendedLifetime(texts) {
            var url = unsafe lifecycle_url(
                url: texts.add(fields.url), type: texts.add(fields.type), source: texts.add(fields.source))
            return unsafe callbacks.open_url?(context, &url) ?? false
        }
    }

    private func continueActivity(_ fields: ContinueActivityFields) -> Bool {
        let texts = CTexts()
        return withExtendedLifetime(texts) {
            unsafe callbacks.continue_activity?(context, texts.add(fields.type), texts.add(fields.info)) ?? false
        }
    }

    private func perform(_ callback: CallbackMessage) -> AppAnswer? {
        guard let function = unsafe callbacks.perform_work else { return .result(.noData) }
        work.append(callback)
        let fields = PerformTaskFields(callback.fields)
        let texts = CTexts()
        withExtendedLifetime(texts) {
            unsafe function(
                context, callback.sequence.rawValue, texts.add(fields.kind), texts.add(fields.payload))
        }
        return nil
    }

    /// Answers work with its result. An unknown number is ignored.
    func completeWork(_ number: Int64, _ result: TaskResult) {
        guard let index = work.firstIndex(where: { $0.sequence.rawValue == number }) else { return }
        client.answer(work.remove(at: index), .result(result))
    }
}

extension Handle {
    /// Calls the function for a callback that is about a scene.
    func deliverToScene(_ callback: CallbackMessage) {
        guard let id = callback.fields.scene else { return }
        let texts = CTexts()
        withExtendedLifetime(texts) {
            let scene = unsafe texts.add(id.name)
            switch callback.kind {
            case .sceneWillConnect: connect(callback, texts)
            case .sceneWillEnterForeground: unsafe callbacks.scene_will_enter_foreground?(context, scene)
            case .sceneDidBecomeActive: unsafe callbacks.scene_did_become_active?(context, scene)
            case .sceneWillResignActive: unsafe callbacks.scene_will_resign_active?(context, scene)
            case .sceneDidEnterBackground: unsafe callbacks.scene_did_enter_background?(context, scene)
            default:
                let isClosed = SceneDisconnectionFields(callback.fields)?.reason == SceneDisconnectionFields.closed
                unsafe callbacks.scene_did_disconnect?(context, scene, isClosed)
            }
        }
    }

    private func connect(_ callback: CallbackMessage, _ texts: CTexts) {
        guard let fields = SceneConnectionFields(callback.fields) else { return }
        var scene = unsafe lifecycle_scene(
            id: texts.add(fields.scene.name), role: texts.add(fields.role), reason: texts.add(fields.reason),
            info: texts.add(fields.info))
        unsafe callbacks.scene_will_connect?(context, &scene)
    }
}

extension lifecycle_callbacks {
    /// A Boolean value that indicates whether the program has functions for scenes.
    var usesScenes: Bool {
        unsafe scene_will_connect != nil || scene_will_enter_foreground != nil || scene_did_become_active != nil
            || scene_will_resign_active != nil || scene_did_enter_background != nil || scene_did_disconnect != nil
    }
}

/// Texts as C has them, valid for as long as this is there.
@safe final class CTexts {
    private var strings = unsafe [UnsafeMutableBufferPointer<CChar>]()

    deinit {
        while let string = unsafe strings.popLast() { unsafe string.deallocate() }
    }

    /// Adds a copy of the text, and returns it; NULL for no text.
    func add(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        let string = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count + 1)
        unsafe string.initialize(repeating: 0)
        var index = 0
        for byte in text.utf8 {
            unsafe string[index] = CChar(bitPattern: byte)
            index += 1
        }
        unsafe strings.append(string)
        return unsafe UnsafePointer(string.baseAddress)
    }
}

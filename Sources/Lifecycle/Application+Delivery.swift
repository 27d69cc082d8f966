internal import AppChannel
internal import Glibc
internal import LifecycleClient

extension Application {
    /// Tells the delegate, then the observers, and then lifed that it was done.
    func deliver(_ event: SessionEvent, of client: Client) {
        switch event {
        case .callback(let callback):
            let answer = deliver(callback, of: client)
            if let answer, self.client === client { client.answer(callback, answer) }
        case .expire(let id, _):
            expirationHandlers.removeValue(forKey: id)?()
        case .refused(let id, let reason):
            // A task that gets no time has none left.
            expirationHandlers.removeValue(forKey: id)?()
            refusalHandlers.removeValue(forKey: id)?(ActivityRefusal(rawValue: reason.rawValue))
        case .terminate:
            delegate?.applicationWillTerminate(self)
            observers.tell(.willTerminate)
            exit(0)
        }
    }

    /// The answer, or nil when it comes later.
    private func deliver(_ callback: CallbackMessage, of client: Client) -> CallbackAnswer? {
        switch callback.kind {
        case .willFinishLaunching, .didFinishLaunching: launch(callback)
        case .openURL: open(OpenURLFields(callback.fields))
        case .continueActivity: takeUp(UserActivity(ContinueActivityFields(callback.fields)))
        case .performTask: perform(callback, of: client)
        case .didBecomeActive: tell(.didBecomeActive) { $0.applicationDidBecomeActive(self) }
        case .willResignActive: tell(.willResignActive) { $0.applicationWillResignActive(self) }
        case .didEnterBackground: tell(.didEnterBackground) { $0.applicationDidEnterBackground(self) }
        case .willEnterForeground: tell(.willEnterForeground) { $0.applicationWillEnterForeground(self) }
        case .didReceiveMemoryWarning: tell(.didReceiveMemoryWarning) { $0.applicationDidReceiveMemoryWarning(self) }
        case .protectedDataWillBecomeUnavailable:
            tell(.protectedDataWillBecomeUnavailable) { $0.applicationProtectedDataWillBecomeUnavailable(self) }
        case .protectedDataDidBecomeAvailable:
            tell(.protectedDataDidBecomeAvailable) { $0.applicationProtectedDataDidBecomeAvailable(self) }
        case .significantTimeChange: tell(.significantTimeChange) { $0.applicationSignificantTimeChange(self) }
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            tellScene(callback)
        }
    }

    private func tell(_ event: ApplicationEvent, _ call: (any ApplicationDelegate) -> Void) -> CallbackAnswer {
        if let delegate { call(delegate) }
        observers.tell(event)
        return .plain
    }

    private func tellScene(_ callback: CallbackMessage) -> CallbackAnswer {
        deliverToScene(callback)
        return .plain
    }

    private func launch(_ callback: CallbackMessage) -> CallbackAnswer {
        let options = LaunchOptions(LaunchFields(callback.fields))
        let handled: Bool
        if callback.kind == .willFinishLaunching {
            handled = delegate?.application(self, willFinishLaunchingWithOptions: options) ?? true
            observers.tell(.willFinishLaunching(options))
        } else {
            handled = delegate?.application(self, didFinishLaunchingWithOptions: options) ?? true
            observers.tell(.didFinishLaunching(options))
        }
        return handled ? .plain : .handled(false)
    }

    private func open(_ fields: OpenURLFields) -> CallbackAnswer {
        let options = OpenURLOptions(fields)
        let handled = delegate?.application(self, open: fields.url, options: options) ?? false
        observers.tell(.openURL(fields.url, options))
        return .handled(handled)
    }

    private func takeUp(_ activity: UserActivity) -> CallbackAnswer {
        let handled = delegate?.application(self, continue: activity) ?? false
        observers.tell(.continueActivity(activity))
        return .handled(handled)
    }

    private func perform(_ callback: CallbackMessage, of client: Client) -> CallbackAnswer? {
        let work = BackgroundWork(PerformTaskFields(callback.fields))
        var isDone = false
        let complete: @MainActor (BackgroundWorkResult) -> Void = { [weak self] result in
            guard !isDone, self?.client === client else { return }
            isDone = true
            client.answer(callback, result.answer)
        }
        if let delegate {
            delegate.application(self, perform: work, completionHandler: complete)
        } else {
            complete(.noData)
        }
        observers.tell(.performWork(work))
        return nil
    }
}

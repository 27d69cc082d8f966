import Lifecycle

/// Writes down what it is told, and the state that the app is in meanwhile.
final class RecordingDelegate: LifecycleDelegate {
    private(set) var log: [String] = []
    private(set) var options: [LaunchOptions] = []
    private(set) var complete: (BackgroundWorkResult) -> Void = { _ in }
    var opens = true
    var whenActive: (LifecycleApplication) -> Void = { _ in }

    func application(_ application: LifecycleApplication, willFinishLaunchingWithOptions options: LaunchOptions) -> Bool
    {
        note("willFinishLaunching", application)
        self.options.append(options)
        return opens
    }

    func application(_ application: LifecycleApplication, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool
    {
        note("didFinishLaunching", application)
        self.options.append(options)
        return opens
    }

    func applicationDidBecomeActive(_ application: LifecycleApplication) {
        note("didBecomeActive", application)
        whenActive(application)
    }

    func applicationWillResignActive(_ application: LifecycleApplication) {
        note("willResignActive", application)
    }

    func applicationDidEnterBackground(_ application: LifecycleApplication) {
        note("didEnterBackground", application)
    }

    func applicationWillEnterForeground(_ application: LifecycleApplication) {
        note("willEnterForeground", application)
    }

    func application(_ application: LifecycleApplication, open url: String, options: OpenURLOptions) -> Bool {
        note("open \(url) \(options.contentType ?? "-") \(options.sourceApplication ?? "-")", application)
        return opens
    }

    func application(_ application: LifecycleApplication, continue activity: UserActivity) -> Bool {
        note("continue \(activity.activityType) \(activity.userInfo)", application)
        return opens
    }

    func application(
        _ application: LifecycleApplication, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void
    ) {
        note("perform \(work.kind) \(work.payload)", application)
        complete = completionHandler
    }

    func applicationDidReceiveMemoryWarning(_ application: LifecycleApplication) {
        note("didReceiveMemoryWarning", application)
    }

    func applicationProtectedDataWillBecomeUnavailable(_ application: LifecycleApplication) {
        note("protectedDataWillBecomeUnavailable", application)
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: LifecycleApplication) {
        note("protectedDataDidBecomeAvailable", application)
    }

    func applicationSignificantTimeChange(_ application: LifecycleApplication) {
        note("significantTimeChange", application)
    }

    private func note(_ callback: String, _ application: LifecycleApplication) {
        log.append("\(callback) \(application.applicationState)")
    }
}

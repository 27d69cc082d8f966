import Lifecycle

/// Writes down what it is told, and the state that the app is in meanwhile.
final class RecordingDelegate: ApplicationDelegate {
    private(set) var log: [String] = []
    private(set) var options: [LaunchOptions] = []
    private(set) var complete: (BackgroundWorkResult) -> Void = { _ in }
    var opens = true
    var whenActive: (Application) -> Void = { _ in }

    func application(_ application: Application, willFinishLaunchingWithOptions options: LaunchOptions) -> Bool {
        note("willFinishLaunching", application)
        self.options.append(options)
        return opens
    }

    func application(_ application: Application, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool {
        note("didFinishLaunching", application)
        self.options.append(options)
        return opens
    }

    func applicationDidBecomeActive(_ application: Application) {
        note("didBecomeActive", application)
        whenActive(application)
    }

    func applicationWillResignActive(_ application: Application) {
        note("willResignActive", application)
    }

    func applicationDidEnterBackground(_ application: Application) {
        note("didEnterBackground", application)
    }

    func applicationWillEnterForeground(_ application: Application) {
        note("willEnterForeground", application)
    }

    func application(_ application: Application, open url: String, options: OpenURLOptions) -> Bool {
        note("open \(url) \(options.contentType ?? "-") \(options.sourceApplication ?? "-")", application)
        return opens
    }

    func application(_ application: Application, continue activity: UserActivity) -> Bool {
        note("continue \(activity.activityType) \(activity.userInfo)", application)
        return opens
    }

    func application(
        _ application: Application, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void
    ) {
        note("perform \(work.kind) \(work.payload)", application)
        complete = completionHandler
    }

    func applicationDidReceiveMemoryWarning(_ application: Application) {
        note("didReceiveMemoryWarning", application)
    }

    func applicationProtectedDataWillBecomeUnavailable(_ application: Application) {
        note("protectedDataWillBecomeUnavailable", application)
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: Application) {
        note("protectedDataDidBecomeAvailable", application)
    }

    func applicationSignificantTimeChange(_ application: Application) {
        note("significantTimeChange", application)
    }

    private func note(_ callback: String, _ application: Application) {
        log.append("\(callback) \(application.applicationState)")
    }
}

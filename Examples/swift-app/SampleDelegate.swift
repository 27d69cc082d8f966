import Glibc
import Lifecycle

/// Prints each callback and the state of the app.
final class SampleDelegate: LifecycleDelegate {
    func application(_ application: LifecycleApplication, willFinishLaunchingWithOptions options: LaunchOptions) -> Bool
    {
        show("will-finish-launching", application)
        return true
    }

    func application(_ application: LifecycleApplication, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool
    {
        show("did-finish-launching", application)
        return true
    }

    func applicationDidBecomeActive(_ application: LifecycleApplication) {
        show("did-become-active", application)
    }

    func applicationWillResignActive(_ application: LifecycleApplication) {
        show("will-resign-active", application)
    }

    func applicationDidEnterBackground(_ application: LifecycleApplication) {
        show("did-enter-background", application)
    }

    func applicationWillEnterForeground(_ application: LifecycleApplication) {
        show("will-enter-foreground", application)
    }

    func application(_ application: LifecycleApplication, open url: String, options: OpenURLOptions) -> Bool {
        show("open-url \(url)")
        return true
    }

    func application(_ application: LifecycleApplication, continue activity: UserActivity) -> Bool {
        show("continue-activity \(activity.activityType) \(activity.userInfo)")
        return true
    }

    func application(
        _ application: LifecycleApplication, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void
    ) {
        show("perform-task \(work.kind) \(work.payload)")
        completionHandler(.newData)
    }

    func applicationDidReceiveMemoryWarning(_ application: LifecycleApplication) {
        show("memory-warning", application)
    }

    func applicationProtectedDataWillBecomeUnavailable(_ application: LifecycleApplication) {
        show("protected-data-will-become-unavailable", application)
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: LifecycleApplication) {
        show("protected-data-did-become-available", application)
    }

    func applicationSignificantTimeChange(_ application: LifecycleApplication) {
        show("significant-time-change", application)
    }

    func applicationWillTerminate(_ application: LifecycleApplication) {
        show("will-terminate", application)
    }

    private func show(_ callback: String, _ application: LifecycleApplication) {
        show("\(callback) \(application.applicationState)")
    }

    private func show(_ text: String) {
        print(text)
        fflush(nil)
    }
}

import Glibc
import Lifecycle

/// Prints what it is told, and the state that the app is in meanwhile.
final class SampleDelegate: ApplicationDelegate {
    func application(_ application: Application, willFinishLaunchingWithOptions options: LaunchOptions) -> Bool {
        show("will-finish-launching", application)
        return true
    }

    func application(_ application: Application, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool {
        show("did-finish-launching", application)
        return true
    }

    func applicationDidBecomeActive(_ application: Application) {
        show("did-become-active", application)
    }

    func applicationWillResignActive(_ application: Application) {
        show("will-resign-active", application)
    }

    func applicationDidEnterBackground(_ application: Application) {
        show("did-enter-background", application)
    }

    func applicationWillEnterForeground(_ application: Application) {
        show("will-enter-foreground", application)
    }

    func application(_ application: Application, open url: String, options: OpenURLOptions) -> Bool {
        show("open-url \(url)")
        return true
    }

    func application(_ application: Application, continue activity: UserActivity) -> Bool {
        show("continue-activity \(activity.activityType) \(activity.userInfo)")
        return true
    }

    func application(
        _ application: Application, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void
    ) {
        show("perform-task \(work.kind) \(work.payload)")
        completionHandler(.newData)
    }

    func applicationDidReceiveMemoryWarning(_ application: Application) {
        show("memory-warning", application)
    }

    func applicationProtectedDataWillBecomeUnavailable(_ application: Application) {
        show("protected-data-will-become-unavailable", application)
    }

    func applicationProtectedDataDidBecomeAvailable(_ application: Application) {
        show("protected-data-did-become-available", application)
    }

    func applicationSignificantTimeChange(_ application: Application) {
        show("significant-time-change", application)
    }

    func applicationWillTerminate(_ application: Application) {
        show("will-terminate", application)
    }

    private func show(_ callback: String, _ application: Application) {
        show("\(callback) \(application.applicationState)")
    }

    private func show(_ text: String) {
        print(text)
        fflush(nil)
    }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The functions of lifecycle.h, which describes each of them, its parameters and its result. The compiler checks these
// definitions against its declarations.

internal import AppChannel
internal import CAppClient
internal import LifecycleClient
public import LifecycleHeader
internal import LifecycleTypes

// MARK: - Opening and closing

@c @implementation
public func lifecycle_open(
    _ callbacks: UnsafePointer<lifecycle_callbacks>!, _ context: UnsafeMutableRawPointer!, _ flags: CUnsignedInt
) -> OpaquePointer! {
    guard let source = unsafe callbacks, let callbacks = unsafe lifecycle_callbacks(copying: source),
        flags & ~(LIFECYCLE_HANDLE_SIGTERM | LIFECYCLE_UNSET_ENVIRONMENT) == 0
    else {
        lifecycle_set_errno(lifecycle_invalid_argument())
        return nil
    }
    do throws(SystemError) {
        let client = try AppClient.forThisProcess(
            flags & LIFECYCLE_HANDLE_SIGTERM != 0 ? .caught : .leftToTheApp,
            removesVariables: flags & LIFECYCLE_UNSET_ENVIRONMENT != 0, usesScenes: callbacks.usesScenes)
        let handle = unsafe Handle(client, callbacks, context)
        return unsafe OpaquePointer(Unmanaged.passRetained(handle).toOpaque())
    } catch {
        lifecycle_set_errno(error.code)
        return nil
    }
}

@c @implementation
public func lifecycle_close(_ app: OpaquePointer!) {
    guard let app = unsafe app else { return }
    let owned = unsafe Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(app))
    unsafe owned.takeRetainedValue().close()
}

// MARK: - Dispatching

@c @implementation
public func lifecycle_fd(_ app: OpaquePointer!) -> CInt {
    unsafe handle(app)?.client.fileDescriptor ?? CInt(failWithInvalidArgument())
}

@c @implementation
public func lifecycle_dispatch(_ app: OpaquePointer!) {
    unsafe handle(app)?.dispatch()
}

@c @implementation
public func lifecycle_state(_ app: OpaquePointer!) -> lifecycle_state {
    switch unsafe handle(app)?.client.state {
    case .active: LIFECYCLE_ACTIVE
    case .background: LIFECYCLE_BACKGROUND
    case .inactive, nil: LIFECYCLE_INACTIVE
    }
}

@c @implementation
public func lifecycle_is_managed(_ app: OpaquePointer!) -> Bool {
    unsafe handle(app)?.client.isManaged ?? false
}

// MARK: - Tasks and activities

@c @implementation
public func lifecycle_begin_task(_ app: OpaquePointer!, _ name: UnsafePointer<CChar>!) -> Int64 {
    unsafe handle(app)?.client.beginTask(name: text(name) ?? "task").rawValue ?? failWithInvalidArgument()
}

@c @implementation
public func lifecycle_end_task(_ app: OpaquePointer!, _ task: Int64) {
    unsafe handle(app)?.client.endTask(AssertionID(rawValue: task))
}

@c @implementation
public func lifecycle_background_time_remaining(_ app: OpaquePointer!) -> Int64 {
    unsafe handle(app)?.client.backgroundMillisecondsRemaining ?? -1
}

@c @implementation
public func lifecycle_begin_activity(_ app: OpaquePointer!, _ mode: UnsafePointer<CChar>!) -> Int64 {
    unsafe handle(app)?.client.beginActivity(mode: text(mode) ?? "").rawValue ?? failWithInvalidArgument()
}

@c @implementation
public func lifecycle_end_activity(_ app: OpaquePointer!, _ activity: Int64) {
    unsafe handle(app)?.client.endActivity(AssertionID(rawValue: activity))
}

// MARK: - Background work

@c @implementation
public func lifecycle_complete_work(_ app: OpaquePointer!, _ work: Int64, _ result: lifecycle_work_result) {
    let result: TaskResult =
        switch result {
        case LIFECYCLE_WORK_NEW_DATA: .newData
        case LIFECYCLE_WORK_NO_DATA: .noData
        default: .failed
        }
    unsafe handle(app)?.completeWork(work, result)
}

// MARK: - State for the next launch

@c @implementation
public func lifecycle_save_state(_ app: OpaquePointer!, _ state: UnsafeRawPointer!, _ size: Int) -> CInt {
    guard unsafe app != nil && (size == 0 || state != nil) else {
        return CInt(failWithInvalidArgument())
    }
    // A state above the limit is not copied.
    let count = min(size, AppSavedState.limit + 1)
    do throws(SystemError) {
        try AppSavedState.save(unsafe Array(UnsafeRawBufferPointer(start: state, count: count)))
        return 0
    } catch {
        lifecycle_set_errno(error.code)
        return -1
    }
}

@c @implementation
public func lifecycle_load_state(_ app: OpaquePointer!, _ state: UnsafeMutableRawPointer!, _ capacity: Int) -> Int64 {
    guard unsafe app != nil && (capacity == 0 || state != nil) else {
        return failWithInvalidArgument()
    }
    do throws(SystemError) {
        let saved = try AppSavedState.load()
        if saved.count <= capacity {
            unsafe UnsafeMutableRawBufferPointer(start: state, count: capacity).copyBytes(from: saved)
        }
        return Int64(saved.count)
    } catch {
        lifecycle_set_errno(error.code)
        return -1
    }
}

// MARK: - Arguments

/// Sets errno to EINVAL, and returns -1.
private func failWithInvalidArgument() -> Int64 {
    lifecycle_set_errno(lifecycle_invalid_argument())
    return -1
}

/// Returns the object behind a pointer; nil for NULL.
func handle(_ app: OpaquePointer?) -> Handle? {
    guard let app = unsafe app else { return nil }
    return unsafe Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(app)).takeUnretainedValue()
}

/// Returns the text of a C string; bytes that are not UTF-8 become replacement characters.
func text(_ string: UnsafePointer<CChar>?) -> String? {
    guard let string = unsafe string else { return nil }
    return unsafe String(cString: string)
}

extension lifecycle_callbacks {
    /// Copies the functions that both the program and this library know; nil without even the size.
    fileprivate init?(copying source: UnsafePointer<lifecycle_callbacks>) {
        let size = unsafe UnsafeRawPointer(source).load(as: Int.self)
        guard size >= MemoryLayout<Int>.size else { return nil }
        self.init()
        unsafe withUnsafeMutableBytes(of: &self) { copy in
            let known = unsafe UnsafeRawBufferPointer(start: source, count: min(size, copy.count))
            unsafe copy.copyMemory(from: known)
        }
    }
}

// MARK: - Scenes

@c @implementation
public func lifecycle_open_scene(
    _ app: OpaquePointer!, _ scene: UnsafePointer<CChar>!, _ role: UnsafePointer<CChar>!,
    _ info: UnsafePointer<CChar>!
) -> CInt {
    let name = unsafe text(scene)
    let id = name.flatMap { SceneID($0) }
    guard let handle = unsafe handle(app), name == nil || id != nil else { return refuse(.malformedRole) }
    do throws(SceneRequestError) {
        try handle.client.openScene(id, role: unsafe text(role), info: unsafe text(info))
        return 0
    } catch {
        return refuse(error)
    }
}

@c @implementation
public func lifecycle_close_scene(_ app: OpaquePointer!, _ scene: UnsafePointer<CChar>!) {
    guard let id = unsafe sceneID(scene) else { return }
    unsafe handle(app)?.client.closeScene(id)
}

@c @implementation
public func lifecycle_set_scene_info(
    _ app: OpaquePointer!, _ scene: UnsafePointer<CChar>!, _ info: UnsafePointer<CChar>!
) -> CInt {
    guard let handle = unsafe handle(app) else { return CInt(failWithInvalidArgument()) }
    guard let id = unsafe sceneID(scene) else { return refuse(.noSuchScene) }
    do throws(SceneRequestError) {
        try handle.client.setSceneInfo(unsafe text(info), of: id)
        return 0
    } catch {
        return refuse(error)
    }
}

@c @implementation
public func lifecycle_scene_state(_ app: OpaquePointer!, _ scene: UnsafePointer<CChar>!) -> lifecycle_scene_state {
    let id = unsafe sceneID(scene)
    return switch unsafe handle(app)?.client.scenes.first(where: { $0.id == id })?.state {
    case .foregroundInactive: LIFECYCLE_SCENE_FOREGROUND_INACTIVE
    case .foregroundActive: LIFECYCLE_SCENE_FOREGROUND_ACTIVE
    case .background, .suspended: LIFECYCLE_SCENE_BACKGROUND
    case .unattached, nil: LIFECYCLE_SCENE_UNATTACHED
    }
}

private func sceneID(_ string: UnsafePointer<CChar>?) -> SceneID? {
    unsafe text(string).flatMap { SceneID($0) }
}

private func refuse(_ error: SceneRequestError) -> CInt {
    switch error {
    case .malformedRole: lifecycle_set_errno(lifecycle_invalid_argument())
    case .unusableInfo: lifecycle_set_errno(lifecycle_file_too_big())
    case .noSuchScene: lifecycle_set_errno(lifecycle_no_entry())
    case .tooManyRequests: lifecycle_set_errno(lifecycle_try_again())
    }
    return -1
}

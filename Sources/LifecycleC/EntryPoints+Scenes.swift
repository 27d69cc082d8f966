// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The functions of lifecycle.h that are about scenes; see EntryPoints.swift.

internal import AppChannel
internal import CLifecycle
internal import LifecycleClient
public import LifecycleHeader

@c @implementation
public func lifecycle_open_scene(
    _ app: OpaquePointer!, _ scene: UnsafePointer<CChar>!, _ role: UnsafePointer<CChar>!,
    _ info: UnsafePointer<CChar>!
) -> CInt {
    let name = unsafe text(scene)
    let id = name.flatMap { SceneID(rawValue: $0) }
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
    guard let handle = unsafe handle(app), let id = unsafe sceneID(scene) else { return refuse(.noSuchScene) }
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
    case .background: LIFECYCLE_SCENE_BACKGROUND
    case .unattached, nil: LIFECYCLE_SCENE_UNATTACHED
    }
}

private func sceneID(_ string: UnsafePointer<CChar>?) -> SceneID? {
    unsafe text(string).flatMap { SceneID(rawValue: $0) }
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

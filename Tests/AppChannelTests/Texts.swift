import AppChannel
import LifecycleTypes

/// The scene that the tests are about.
let sceneTwo = scene("scene-2")

func scene(_ text: String) -> SceneID {
    guard let scene = SceneID(text) else { preconditionFailure("\(text) is no scene's id") }
    return scene
}

func bytes(_ text: String) -> ArraySlice<UInt8> {
    Array(text.utf8)[...]
}

/// What the line means, or what is wrong with it.
func fromApp(_ text: String) -> Result<MessageFromApp, LineError> {
    Result { () throws(LineError) in try MessageFromApp(parsing: bytes(text)) }
}

/// What the line means, or what is wrong with it.
func toApp(_ text: String) -> Result<MessageToApp, LineError> {
    Result { () throws(LineError) in try MessageToApp(parsing: bytes(text)) }
}

func line(_ bytes: ArraySlice<UInt8>) -> Result<Line, LineError> {
    Result { () throws(LineError) in try Line(parsing: bytes) }
}

func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
}

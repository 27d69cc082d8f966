import ControlAPI
import LifecycleCore
import Varlink

extension ControlService {
    /// Does to the apps what an event of the machine would do.
    func simulate(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let parameters: SimulateParameters = try call.parameters()
        ask(.machine(LifecycleCore.MachineEvent(parameters.event)), call, connection)
    }
}

extension LifecycleCore.MachineEvent {
    init(_ event: ControlAPI.MachineEvent) {
        self =
            switch event {
            case .lock: .lock
            case .unlock: .unlock
            case .sleep: .sleep
            case .wake: .wake
            case .switchAway: .switchAway
            case .switchBack: .switchBack
            case .timeChange: .timeChange
            }
    }
}

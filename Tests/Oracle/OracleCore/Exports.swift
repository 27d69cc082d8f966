@_exported public import LifecycleTypes

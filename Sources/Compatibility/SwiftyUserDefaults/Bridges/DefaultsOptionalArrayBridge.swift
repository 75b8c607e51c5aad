/// Stores an optional array; `nil` removes the key.
///
/// It is the same as ``DefaultsOptionalBridge``, which the library uses.
public typealias DefaultsOptionalArrayBridge<Bridge: DefaultsBridge> =
  DefaultsOptionalBridge<Bridge>

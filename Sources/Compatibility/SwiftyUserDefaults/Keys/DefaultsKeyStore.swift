/// A type whose properties are keys.
///
/// An adapter finds its keys there, by key paths and as members.
public protocol DefaultsKeyStore: Sendable {}

/// The keys of a program.
///
/// ```swift
/// extension DefaultsKeys {
///   var username: DefaultsKey<String?> { .init("username") }
///   var launchCount: DefaultsKey<Int> { .init("launchCount", defaultValue: 0) }
/// }
/// ```
public struct DefaultsKeys: DefaultsKeyStore {
  /// Creates the store of keys, which has no state.
  public init() {}
}

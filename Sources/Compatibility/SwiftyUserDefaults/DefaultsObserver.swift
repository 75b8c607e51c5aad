public import Foundation
internal import Prephirences

/// An observation of a key; it ends when this object is destroyed.
public final class DefaultsObserver<T: DefaultsSerializable>: NSObject, DefaultsDisposable, Sendable
where T == T.T {
  /// A change of the value, or the value at the start of the observation.
  public struct Update {
    /// What has happened.
    public let kind: NSKeyValueChange

    /// Always `nil`: changes of single elements are not reported.
    public let indexes: IndexSet?

    /// Whether another update of the same change follows.
    public let isPrior: Bool

    /// The value now; the key's default if there is none, or if the options do not ask for it.
    public let newValue: T.T?

    /// The value before; the key's default if there was none, or if the options do not ask for it.
    public let oldValue: T.T?
  }

  private let observation: PreferenceObservation

  init(
    _ key: DefaultsKey<T>, of defaults: UserDefaults, options: NSKeyValueObservingOptions,
    handler: @escaping @Sendable (Update) -> Void
  ) {
    let updates = DefaultsUpdates(key: key, options: options)
    observation = defaults.observe(
      forKey: key._key, initial: options.contains(.initial)
    ) { change in
      for update in updates.updates(of: change) { handler(update) }
    }
  }

  /// Ends the observation.
  ///
  /// No call starts afterwards; a call that is running on another thread finishes.
  public func dispose() { observation.cancel() }
}

// A handler can pass an update on to an actor.
extension DefaultsObserver.Update: Sendable where T: Sendable {}

/// An observation that can be ended on any thread.
///
/// It is `Sendable`, so that the `deinit` of an actor or of a class of the main actor can end it.
public protocol DefaultsDisposable: Sendable {
  /// Ends it; repeated calls do nothing.
  func dispose()
}

/// Converts changes of preferences to the updates that an observer asked for.
struct DefaultsUpdates<T: DefaultsSerializable>: Sendable where T == T.T {
  typealias Update = DefaultsObserver<T>.Update

  let key: DefaultsKey<T>
  let options: NSKeyValueObservingOptions

  func updates(of change: PreferenceChange) -> [Update] {
    let new = options.contains(.new) ? value(of: change.newValue) : key.defaultValue
    guard !change.isInitial else { return [update(new: new, old: key.defaultValue)] }
    let old = options.contains(.old) ? value(of: change.oldValue) : key.defaultValue
    let update = update(new: new, old: old)
    guard options.contains(.prior) else { return [update] }
    return [self.update(new: key.defaultValue, old: old, isPrior: true), update]
  }

  private func update(new: T?, old: T?, isPrior: Bool = false) -> Update {
    Update(kind: .setting, indexes: nil, isPrior: isPrior, newValue: new, oldValue: old)
  }

  private func value(of object: Any?) -> T? {
    object.flatMap(T._defaults.deserialize) ?? key.defaultValue
  }
}

extension DefaultsAdapter {
  /// Calls a closure with each change of a key's value, by this or another process.
  ///
  /// ```swift
  /// let observer = Defaults.observe(\.launchCount) { update in print(update.newValue ?? 0) }
  /// ```
  ///
  /// Setting an equal value is not a change. The closure may read and change the same key; a change
  /// that it makes is reported after it returns. A keychain keeps no old values: each change has
  /// the key's default as its old value, and setting an equal value is reported.
  ///
  /// - Parameters:
  ///   - options: What the closure receives. With `.initial`, it is called before this returns.
  ///     With `.prior`, it is called twice for a change, both times after the value was stored.
  ///   - handler: Called on the thread that makes the change, before its setter returns, and on
  ///     another thread for changes by other processes. A keychain reports every change on another
  ///     thread, soon after it.
  /// - Returns: The observation, which ends when it is destroyed.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    _ key: DefaultsKey<T>, options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    defaults.observe(key, options: options, handler: handler)
  }

  /// Calls a closure with each change of a key store's key, as
  /// ``observe(_:options:handler:)-(DefaultsKey<T>,_,_)``.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    _ keyPath: KeyPath<KeyStore, DefaultsKey<T>>,
    options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    defaults.observe(keyStore[keyPath: keyPath], options: options, handler: handler)
  }

  /// Calls a closure with each change of a key's value, as
  /// ``observe(_:options:handler:)-(DefaultsKey<T>,_,_)``.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    key: DefaultsKey<T>, options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    defaults.observe(key, options: options, handler: handler)
  }
}

extension UserDefaults {
  /// Calls a closure with each change of a key's value, as
  /// ``DefaultsAdapter/observe(_:options:handler:)-(DefaultsKey<T>,_,_)``.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    _ key: DefaultsKey<T>, options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    DefaultsObserver(key, of: self, options: options, handler: handler)
  }
}

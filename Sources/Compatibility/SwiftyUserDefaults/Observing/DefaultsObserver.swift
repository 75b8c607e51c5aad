public import Foundation
internal import Prephirences

/// An observation of a key; it ends when this object is destroyed.
public final class DefaultsObserver<T: DefaultsSerializable>: NSObject, DefaultsDisposable, Sendable
where T == T.T {
  /// A change of the value, or the value at the start of the observation.
  public struct Update {
    /// What has happened.
    public let kind: NSKeyValueChange

    /// Always `nil`: no change is one of single elements.
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
  /// After the end no call starts; a call that is running on another thread finishes.
  public func dispose() { observation.cancel() }
}

// A handler can pass an update on to an actor.
extension DefaultsObserver.Update: Sendable where T: Sendable {}

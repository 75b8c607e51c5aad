public import Foundation

extension DefaultsAdapter {
  /// Calls a closure with each change of a key's value, whoever makes it.
  ///
  /// ```swift
  /// let observer = Defaults.observe(\.launchCount) { update in print(update.newValue ?? 0) }
  /// ```
  ///
  /// Setting an equal value is not a change. The closure may read and change the same key; a change
  /// that it makes is reported after it returns. A keychain keeps no old values: each change has the
  /// key's default as its old value, and setting an equal value is reported.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: What the closure receives. With `.initial`, it is called before this returns. With
  ///     `.prior`, it is called twice for a change, both times after the value was stored.
  ///   - handler: Called on the thread that makes the change, before its setter returns, and on
  ///     another thread for changes by other processes. A keychain reports every change on another
  ///     thread, soon after it.
  /// - Returns: The observation; it ends when this object is destroyed.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    _ key: DefaultsKey<T>, options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    defaults.observe(key, options: options, handler: handler)
  }

  /// Calls a closure with each change of the value of a key of the key store.
  ///
  /// See ``observe(_:options:handler:)-(DefaultsKey<T>,_,_)``.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    _ keyPath: KeyPath<KeyStore, DefaultsKey<T>>,
    options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    defaults.observe(keyStore[keyPath: keyPath], options: options, handler: handler)
  }

  /// Calls a closure with each change of a key's value; another spelling of
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
  /// Calls a closure with each change of a key's value, whoever makes it.
  ///
  /// See ``DefaultsAdapter/observe(_:options:handler:)-(DefaultsKey<T>,_,_)``.
  @preconcurrency
  public func observe<T: DefaultsSerializable>(
    _ key: DefaultsKey<T>, options: NSKeyValueObservingOptions = [.old, .new],
    handler: @escaping @Sendable (DefaultsObserver<T>.Update) -> Void
  ) -> any DefaultsDisposable where T == T.T {
    DefaultsObserver(key, of: self, options: options, handler: handler)
  }
}

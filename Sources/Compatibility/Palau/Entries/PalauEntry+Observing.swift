internal import Foundation
public import Prephirences

extension PalauEntry {
  /// Calls a closure with each change of the stored value, whoever makes it.
  ///
  /// The rules of the entry are not applied, because the closure may run on any thread;
  /// ``changes(initial:)`` applies them.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Receives the new and the old value; `nil` if there is none of this type. It is
  ///     called on the thread that makes the change, or for another process on a thread of the
  ///     store.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe(
    initial: Bool = false,
    _ handler: @escaping @Sendable (_ newValue: ReturnType?, _ oldValue: ReturnType?) -> Void
  ) -> PreferenceObservation where Self: SendableMetatype {
    defaults.observe(forKey: key, initial: initial) { change in
      handler(
        Self.value(of: change.newValue, change.key, ensure: { $0 }),
        Self.value(of: change.oldValue, change.key, ensure: { $0 }))
    }
  }

  /// Returns the future changes of the value, as a sequence.
  ///
  /// ```swift
  /// for await change in PalauDefaults.name.changes() { print(change.newValue ?? "nobody") }
  /// ```
  ///
  /// - Parameter initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; a slow reader gets one change, from the value that it last saw to the
  ///   present one.
  public func changes(initial: Bool = false) -> PalauChanges<Self> {
    PalauChanges(entry: self, changes: defaults.changes(forKey: key, initial: initial))
  }

  /// Returns the value that the entry has if an object is stored.
  func value(of object: PreferenceObject?) -> ReturnType? {
    Self.value(of: object, key, ensure: ensure)
  }

  private static func value(
    of object: PreferenceObject?, _ key: PreferenceKey,
    ensure: @escaping (ReturnType?) -> ReturnType?
  ) -> ReturnType? {
    let memory = MutableDictionaryPreferences(dictionary: [:])
    if let object { memory.set(object as PreferenceObject?, forKey: key) }
    let scratch = BackedUserDefaults(preferences: memory)
    return Self(key: key, defaults: scratch, didSet: nil, ensure: ensure).value
  }
}

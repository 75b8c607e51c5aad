internal import Foundation
public import PreferencesDurable
public import Prephirences
package import PrephirencesSystem

/// Durable preferences that are in step with those of other machines.
///
/// ```swift
/// let settings = SharedPreferences(suiteName: "com.example.fleet")
/// settings["interval"] = 30
/// ```
///
/// The values are those of ``DurablePreferences`` of the same suite, in the same file: reads and
/// changes need no network, and never wait for it. What this machine changes, by whichever program,
/// is sent to the store that the suite's ``SharingConfiguration`` names, and what other machines
/// change there arrives here. Of two changes of a key, the one that the store has first is the older
/// one; a closure can decide instead, see ``init(suiteName:conflicts:)``.
///
/// Without a configuration, the preferences are local, and are shared from the moment when there is
/// one and a program is started. While an object exists, its program sends and receives, unless
/// another one on this machine does.
///
/// The methods that throw report each failure as ``PreferencesError``. After others, ask for
/// ``lastError``. Failures in the background are reported to ``observeFailures(_:)``, and
/// ``status()`` has them. It is safe to use from several threads.
///
/// The values come from elsewhere, so they are not the user's own: references to credentials are
/// not resolved in them.
public final class SharedPreferences: FalliblePreferencesType, Sendable {
  /// The name of a preference, the type of its value, and the value if none is stored.
  public typealias Key<Value: Sendable> = DurablePreferences.Key<Value>

  /// A change of the value of a typed key.
  public typealias KeyChange<Value: Sendable> = DurablePreferences.KeyChange<Value>

  /// Several reads and changes of preferences that are performed, and sent, as one.
  public typealias Transaction = DurablePreferences.Transaction

  /// Returns what to do about a conflict.
  public typealias Resolver = @Sendable (Conflict) throws -> Resolution

  /// The name of the suite.
  public let suiteName: String

  /// The preferences of the same suite, which have the values.
  public let durable: DurablePreferences

  let store: SharedStore
  private let resolver: SharedStore.ResolverNumber?

  /// Names the shared preferences of a suite.
  ///
  /// If a conflict must be decided by a program, it waits for one that can.
  ///
  /// - Parameter suiteName: The name of the suite, as for ``DurablePreferences``.
  public convenience init(suiteName: String) {
    self.init(suiteName: suiteName, folder: nil, environment: .process, conflicts: nil)
  }

  /// Names the shared preferences of a suite, and decides its conflicts.
  ///
  /// From now on, conflicts of the suite on this machine wait for a program that decides them.
  ///
  /// - Parameters:
  ///   - suiteName: The name of the suite, as for ``DurablePreferences``.
  ///   - conflicts: Decides a conflict. It is called on a thread of its own, outside locks, perhaps
  ///     several times for one conflict. If it throws, the changes wait, ``status()`` names them, and
  ///     others go on.
  public convenience init(suiteName: String, conflicts: @escaping Resolver) {
    self.init(suiteName: suiteName, folder: nil, environment: .process, conflicts: conflicts)
  }

  package init(
    suiteName: String, folder: String?, environment: EnvironmentVariables, conflicts: Resolver?
  ) {
    self.suiteName = suiteName
    durable = DurablePreferences(suiteName: suiteName, folder: folder, environment: environment)
    store = SharedStores.shared.store(of: durable, environment)
    resolver = conflicts.map(store.add)
    store.begin()
  }

  deinit { if let resolver { store.remove(resolver) } }

  /// Waits until all values are on the disk of this machine; it sends nothing.
  ///
  /// - Throws: ``PreferencesError``.
  public func synchronize() throws(PreferencesError) { try durable.synchronize() }

  // MARK: - Failures

  /// The failure of the last call that does not throw, or else why the suite is not shared although
  /// it is configured; `nil` if there is neither.
  public var lastError: PreferencesError? { durable.lastError ?? store.problem }

  /// Records a value that was refused before it reached the file.
  ///
  /// - Parameters:
  ///   - error: Why the value was refused.
  ///   - key: Its key.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    durable.didRefuse(error, forKey: key)
  }

  /// Calls a closure with each failure of a call that does not throw, and within seconds with each
  /// new failure of sending or receiving, by whichever process of this machine.
  ///
  /// - Parameter handler: Called on the thread of the call, before it returns, or on a thread of its
  ///   own. If there is a failure of sharing now, it is called with that before this returns.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observeFailures(
    _ handler: @escaping @Sendable (PreferencesError) -> Void
  ) -> PreferenceObservation {
    let calls = durable.observeFailures(handler)
    let background = store.observeFailures(handler)
    return PreferenceObservation {
      calls.cancel()
      background.cancel()
    }
  }

  // MARK: - Reading

  /// Returns the value of a key, as this machine has it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it cannot be read: then ``lastError`` has
  ///   the reason.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    durable.object(forKey: key)
  }

  /// Returns all values, as this machine has them.
  ///
  /// - Returns: The values by their keys; empty if they cannot be read. Canonically equivalent keys
  ///   are one key of a dictionary.
  public func dictionary() -> PreferencesDictionary { durable.dictionary() }

  /// Returns the value of a key, as this machine has it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: ``PreferencesError`` if the value cannot be read.
  public func fetchObject(
    forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceObject? {
    try durable.fetchObject(forKey: key)
  }

  /// Returns all values, as this machine has them.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: ``PreferencesError`` if the values cannot be read.
  public func fetchDictionary() throws(PreferencesError) -> PreferencesDictionary {
    try durable.fetchDictionary()
  }
}

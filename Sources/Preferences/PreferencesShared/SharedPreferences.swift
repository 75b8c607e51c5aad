internal import FoundationEssentials
public import PreferencesCore
public import PreferencesDurable
package import PrephirencesSystem
internal import SystemPackage

/// Durable preferences that are kept in step with those of other machines.
///
/// ```swift
/// let settings = SharedPreferences(suiteName: "com.example.fleet")
/// settings["interval"] = 30
/// ```
///
/// The values are those of ``DurablePreferences`` of the same suite, in the same file: reads and
/// changes need no network, and never wait for it. Each change by a program of this machine is sent
/// to the store that the suite's ``SharingConfiguration`` names, and changes of other machines
/// arrive here. If two machines change a key, the change that reaches the store first loses; a
/// closure can decide instead, see ``init(suiteName:conflicts:)``.
///
/// Without a configuration, the preferences are local. They are shared as soon as there is one and
/// a program is started. While an object exists, its process sends and receives, unless another
/// process of this machine does.
///
/// Methods that throw report each failure as ``PreferencesError``. For the others, read
/// ``lastError``. Failures in the background are reported to ``observeFailures(_:)`` and by
/// ``status()``. It is safe to use from several threads.
///
/// The values can come from other machines, so references to credentials are not resolved in them.
public final class SharedPreferences: DurablePreferencesType, Sendable {
  /// The name of a preference, the type of its value, and the value if none is stored.
  public typealias Key<Value: Sendable> = DurablePreferences.Key<Value>

  /// A change of the value of a typed key.
  public typealias KeyChange<Value: Sendable> = DurablePreferences.KeyChange<Value>

  /// Several reads and changes that are performed, and sent, as one.
  public typealias Transaction = DurablePreferences.Transaction

  /// Returns what to do about a conflict.
  public typealias Resolver = @Sendable (Conflict) throws -> Resolution

  /// The name of the suite.
  public let suiteName: String

  /// The preferences of the same suite, which hold the values.
  public let durable: DurablePreferences

  let store: SharedStore
  private let resolver: SharedStore.ResolverNumber?

  /// Creates shared preferences of a suite.
  ///
  /// A conflict that a program must decide waits for a program that can.
  ///
  /// - Parameter suiteName: The name of the suite, as for ``DurablePreferences``.
  public convenience init(suiteName: String) {
    self.init(suiteName: suiteName, folder: nil, environment: .process, conflicts: nil)
  }

  /// Creates shared preferences of a suite, and decides its conflicts.
  ///
  /// From now on, conflicts of the suite on this machine wait for a program that decides them.
  ///
  /// - Parameters:
  ///   - suiteName: The name of the suite, as for ``DurablePreferences``.
  ///   - conflicts: Decides a conflict. It is called on a thread of its own, outside locks, perhaps
  ///       several times for one conflict. If it throws, ``status()`` lists the changes as waiting;
  ///       other changes are sent.
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

  // MARK: - Failures

  /// The failure of the last call that does not throw, or else why a configured suite is not
  /// shared; `nil` if there is neither.
  public var lastError: PreferencesError? { durable.lastError ?? store.problem }

  /// Calls a closure with each failure of a call that does not throw, and within seconds with each
  /// new failure of sending or receiving, in any process of this machine.
  ///
  /// - Parameter handler: Called on the thread of the call before it returns, or on a thread of its
  ///   own. A present failure of sharing is reported before this method returns.
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

  // MARK: - Observing

  /// Starts notifying an observer of changes of this program, other programs and other machines.
  ///
  /// - Parameter observer: The observer.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    store.keeping(durable.addObserver(observer))
  }
}

// What user defaults and commands need.

extension SharedPreferences: CastableNumberPreferences {}

extension SharedPreferences: ExactKeyPreferences {
  package func pairs() -> [(PreferenceKey, PreferenceObject?)] { durable.pairs() }
}

extension SharedPreferences: ChangeReportingPreferences {
  package func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation {
    durable.observeChanges(handler)
  }
}

extension SharedPreferences {
  /// Shares a suite on this machine from now on, in all programs of this user.
  ///
  /// It saves the configuration and starts recording changes. This machine's values are sent. If
  /// the store has a key already, the store's value wins, unless a closure decides.
  ///
  /// - Parameters:
  ///   - suiteName: The name of the suite.
  ///   - configuration: Where it is shared.
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/invalidAddress`` if the
  ///   configuration cannot be used.
  public static func share(
    suiteName: String, with configuration: SharingConfiguration
  ) throws(PreferencesError) {
    try share(suiteName: suiteName, with: configuration, folder: nil, environment: .process)
  }

  package static func share(
    suiteName: String, with configuration: SharingConfiguration, folder: String?,
    environment: EnvironmentVariables
  ) throws(PreferencesError) {
    try configuration.completed(by: environment).save(
      suiteName: suiteName, environment: environment)
    let durable = DurablePreferences(
      suiteName: suiteName, folder: folder, environment: environment)
    let store = SharedStores.shared.store(of: durable, environment)
    store.end()
    store.begin()
    if let problem = store.problem { throw problem }
  }

  /// Stops sharing a suite on this machine: it keeps its values, and they are local.
  ///
  /// Unsent changes are not sent any more. Other programs that use the suite stop at once.
  ///
  /// - Parameter suiteName: The name of the suite; it may not be shared.
  /// - Throws: ``PreferencesError``.
  public static func stopSharing(suiteName: String) throws(PreferencesError) {
    try stopSharing(suiteName: suiteName, folder: nil, environment: .process)
  }

  package static func stopSharing(
    suiteName: String, folder: String?, environment: EnvironmentVariables
  ) throws(PreferencesError) {
    try SharingConfiguration.remove(suiteName: suiteName, environment: environment)
    let durable = DurablePreferences(
      suiteName: suiteName, folder: folder, environment: environment)
    let store = SharedStores.shared.store(of: durable, environment)
    store.end()
    if try store.replica.isShared() { try store.replica.unshare() }
  }

  /// Sets how this program reads the passwords to which configurations refer.
  ///
  /// The module itself does not use the keychain:
  ///
  /// ```swift
  /// let resolver = ReferenceResolver(store: Vault(), defaultService: "fleet")
  /// SharedPreferences.readReferences { reference in
  ///   try resolver.resolve(CredentialReference(reference)).withBytes { bytes in
  ///     bytes.byteOffsets.map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
  ///   }
  /// }
  /// ```
  ///
  /// Without a closure, such suites wait for a program that has one.
  ///
  /// - Parameter reader: Receives a reference such as `keychain://etcd/fleet`, and returns the
  ///   bytes of the password. It is called on a thread of its own.
  public static func readReferences(_ reader: @escaping @Sendable (String) throws -> [UInt8]) {
    PasswordReferences.shared.read(with: reader)
    SharedStores.shared.wakeAll()
  }

  /// Waits until the shared store has all values that were set on this machine before, or what a
  /// closure has decided instead.
  ///
  /// It is for programs that end soon: without it, unsent changes wait for the next program that
  /// uses the suite. If the suite is not shared, it only waits for the disk.
  ///
  /// It blocks the thread; tasks call the asynchronous variant.
  ///
  /// - Parameter deadline: How long to wait at most.
  /// - Throws: ``PreferencesError``. At the deadline, ``PreferencesError/Code/timedOut`` if
  ///   something is unsent, and ``PreferencesError/Code/outcomeUnknown`` if it may have arrived. At
  ///   once, if all unsent changes were refused, with the reason:
  ///   ``PreferencesError/Code/accessDenied``, ``PreferencesError/Code/overQuota``,
  ///   ``PreferencesError/Code/unsupportedFormat`` or ``PreferencesError/Code/damaged``.
  ///   ``PreferencesError/Code/conflict`` at once if a change waits for a decision that no closure
  ///   makes, see ``status()``; and if a change that was unsent at the call was given up because
  ///   another machine had changed its key first: the message names the keys. A change that was
  ///   given up before the call is only reported to ``observeExternalChanges(_:)``.
  ///   ``PreferencesError/Code/notFound`` if the suite is shared and its configuration is missing.
  @available(
    *, noasync, message: "call 'await flush(deadline:)', which blocks no thread of Swift's"
  )
  public func flush(deadline: Duration = .seconds(10)) throws(PreferencesError) {
    try flushBlocking(Deadline(after: deadline))
  }

  /// Waits until the shared store has all values that were set on this machine before; see the
  /// variant that blocks.
  ///
  /// - Parameter deadline: How long to wait at most.
  /// - Throws: ``PreferencesError`` as that variant.
  public func flush(deadline: Duration = .seconds(10)) async throws(PreferencesError) {
    let end = Deadline(after: deadline)
    let result: Result<Void, PreferencesError> = await withCheckedContinuation { continuation in
      do throws(Errno) {
        try DetachedThread.start(named: "prefs-flush") {
          continuation.resume(
            returning: Result { () throws(PreferencesError) in
              try self.flushBlocking(end)
            })
        }
      } catch {
        continuation.resume(
          returning: .failure(
            PreferencesError(
              .inputOutput, "no thread can be started to wait", systemCode: error.rawValue)))
      }
    }
    try result.get()
  }

  private func flushBlocking(_ deadline: Deadline) throws(PreferencesError) {
    try durable.synchronize()
    // Another program may have started or stopped sharing.
    let isShared = try replica.isShared()
    if isShared, store.worker == nil { store.begin() }
    if let problem = store.problem { throw problem }
    guard isShared else { return }
    guard let worker = store.worker else { throw .withoutConfiguration(durable.suiteName) }
    try worker.flush(deadline)
  }

  /// Starts sending and receiving if the suite is shared now, and returns the status.
  package func beginAndReport() throws(PreferencesError) -> Status {
    if store.worker == nil { store.begin() }
    return try status()
  }

  /// The worker of this process; `nil` if the suite is not configured, or cannot be shared.
  package var worker: SyncWorker? { store.worker }

  /// What the file knows of the shared store.
  package var replica: SharedReplica { store.replica }
}

extension PreferencesError {
  fileprivate static func withoutConfiguration(_ suite: String) -> Self {
    Self(
      .notFound,
      "the preferences '\(suite)' are shared, but their configuration is missing, so nothing is "
        + "sent; end sharing, or share them again")
  }
}

extension SharedPreferences {
  /// Changes of this machine whose keys another machine changed before they were sent.
  public struct Conflict: Sendable {
    /// The values of a key.
    public struct Value: Sendable {
      /// The key.
      public let key: PreferenceKey

      /// The value on this machine; `nil` if it was removed here.
      public let local: PreferenceValue?

      /// The value in the shared store; `nil` if it was removed there.
      public let shared: PreferenceValue?
    }

    /// The keys with their values; for a transaction these are all its keys, also those that only
    /// this machine has changed.
    public let values: [Value]

    /// Whether the changes were made in one `transaction(_:)`.
    public let isTransaction: Bool

    /// Why an earlier decision failed; `nil` if there was none.
    public let earlierFailure: String?
  }

  /// What to do about a ``Conflict``.
  @nonexhaustive public enum Resolution: Sendable {
    /// Discard the changes of this machine.
    case takeShared

    /// Send the changes of this machine, based on the store's current values.
    case keepLocal

    /// Set and send these values. `nil` removes a key; a key that is not listed takes the shared
    /// value.
    case set([(key: PreferenceKey, value: PreferenceValue?)])
  }
}

extension SharedPreferences.Conflict {
  init(_ conflict: ReplicaConflict) {
    values = conflict.values.map { Value(key: $0.key, local: $0.local, shared: $0.shared) }
    isTransaction = conflict.isTransaction
    earlierFailure = conflict.message
  }
}

extension SharedPreferences.Resolution {
  var decision: ReplicaDecision {
    switch self {
    case .takeShared: .takeShared
    case .keepLocal: .keepLocal
    case .set(let values): .set(values)
    }
  }
}

extension SharedPreferences {
  /// Changes of other machines that this machine has now.
  public struct ExternalChange: Sendable {
    /// Why values have changed.
    @frozen public enum Reason: Int, Hashable, Sendable {
      /// Another machine has changed them.
      case serverChange = 0

      /// The suite is in step for the first time.
      case initialSync = 1

      /// The suite has more keys or bytes than it may have.
      case quotaViolation = 2

      /// The suite uses another store from now on.
      case accountChange = 3
    }

    /// A change of this machine that was not sent because another machine changed the key first.
    public struct LostValue: Sendable {
      /// The key.
      public let key: PreferenceKey

      /// The value that this machine had; `nil` if it was removed here.
      public let localValue: PreferenceValue?

      /// The present value; `nil` if it was removed elsewhere.
      public let sharedValue: PreferenceValue?
    }

    /// Why the values have changed.
    public let reason: Reason

    /// The keys whose values were changed or removed; each once.
    public let keys: [PreferenceKey]

    /// The conflicts that this machine has lost, in order; a key may be lost several times.
    public let lostValues: [LostValue]
  }

  /// Calls a closure with the changes of other machines.
  ///
  /// Changes by programs of this machine are not reported.
  ///
  /// - Parameter handler: Called on a thread of its own, one call at a time.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observeExternalChanges(
    _ handler: @escaping @Sendable (ExternalChange) -> Void
  ) -> PreferenceObservation {
    store.observeExternalChanges(handler)
  }

  /// Returns the future changes of other machines as a sequence.
  ///
  /// - Returns: The sequence; for a slow reader, consecutive changes with one reason are merged.
  public func externalChanges() -> ExternalChanges { ExternalChanges(of: store) }
}

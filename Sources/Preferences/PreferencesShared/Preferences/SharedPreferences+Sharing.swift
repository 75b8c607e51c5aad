internal import Foundation
internal import PreferencesDurable
public import Prephirences
package import PrephirencesSystem
internal import SystemPackage

extension SharedPreferences {
  /// Shares a suite from now on, on this machine, with every program of this user.
  ///
  /// It writes the configuration into its file, and begins to note what is changed. This machine's
  /// values are sent; of keys that the store has, too, the store's are taken, unless a closure
  /// decides.
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

  /// Ends sharing a suite on this machine: it keeps the values that it has, and they are local.
  ///
  /// What was not sent is not sent any more. Other programs that use the suite end it at once.
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
  /// The module does not use the keychain itself:
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
  /// - Parameter reader: Gets a reference such as `keychain://etcd/fleet`, and returns the bytes of
  ///   the password; called on a thread of its own.
  public static func readReferences(_ reader: @escaping @Sendable (String) throws -> [UInt8]) {
    PasswordReferences.shared.read(with: reader)
    SharedStores.shared.wakeAll()
  }

  /// Waits until all values that were set on this machine before are in the shared store, or what a
  /// closure has decided instead.
  ///
  /// It is for programs that end soon: without it, what is unsent is sent by the next program that
  /// uses the suite. If the suite is not shared, it waits for nothing but the disk.
  ///
  /// It blocks the thread; tasks call the asynchronous variant.
  ///
  /// - Parameter deadline: How long to wait at most.
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/timedOut`` if something is unsent at
  ///   the deadline, and with ``PreferencesError/Code/outcomeUnknown`` if it may have arrived. With
  ///   ``PreferencesError/Code/conflict`` at once if all that is unsent waits for something else than
  ///   the network, see ``status()``; and if a change that was unsent at the call was given up,
  ///   because another machine had changed its key first: the message names the keys. A change that
  ///   was given up before the call is only reported to ``observeExternalChanges(_:)``.
  @available(
    *, noasync, message: "call 'await flush(deadline:)', which blocks no thread of Swift's"
  )
  public func flush(deadline: Duration = .seconds(10)) throws(PreferencesError) {
    try flushBlocking(Deadline(after: deadline))
  }

  /// Waits until all values that were set on this machine before are in the shared store; see the
  /// variant that blocks.
  ///
  /// - Parameter deadline: How long to wait at most.
  /// - Throws: ``PreferencesError`` as that variant.
  public func flush(deadline: Duration = .seconds(10)) async throws(PreferencesError) {
    let end = Deadline(after: deadline)
    let result: Result<Void, PreferencesError> = await withCheckedContinuation { continuation in
      do throws(Errno) {
        try DetachedThread.start(named: "prefs flush") {
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
    // Another program may have begun or ended sharing.
    let isShared = try replica.isShared()
    if isShared, store.worker == nil { store.begin() }
    if let problem = store.problem { throw problem }
    guard isShared else { return }
    guard let worker = store.worker else { throw .withoutConfiguration(durable.suiteName) }
    try worker.flush(deadline)
  }

  /// Who sends and receives; `nil` if the suite is not configured, or cannot be shared.
  package var worker: SyncWorker? { store.worker }

  /// What the file knows of the shared store.
  package var replica: SharedReplica { store.replica }
}

extension PreferencesError {
  fileprivate static func withoutConfiguration(_ suite: String) -> Self {
    Self(
      .notFound,
      "the preferences '\(suite)' are shared, but their configuration is missing, so nothing is sent; "
        + "end sharing, or share them again")
  }
}

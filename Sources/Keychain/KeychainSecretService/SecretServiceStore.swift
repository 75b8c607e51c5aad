internal import FoundationEssentials
public import KeychainCredentials
internal import KeychainSecrets

/// The desktop keyring: a collection of the Secret Service, such as gnome-keyring's or KeePassXC's.
///
/// ```swift
/// let store = SecretServiceStore()
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try store.set(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// ```
///
/// Items of other programs are found, too, by the names that those programs gave them. Storing such
/// a credential adds an item next to the existing one, and takes precedence. Items without such
/// names are found by their attributes: see ``unlistedItems(matching:)``. Every program of the
/// session can read every item: the keyring protects data on the disk, and from other users.
///
/// Handles are cheap and can be used from all threads. The process has one connection to each bus,
/// which the first call opens, and which is opened again after the bus or the provider has ended.
///
/// All answers of the provider are checked: a reply whose type differs from the Secret Service's
/// specification is an error (``KeychainError/Code/inputOutput``), as is a list of more than
/// ``maximumItemCount`` items (``KeychainError/Code/refused``), and no secret is sent under a key
/// that others can compute (``KeychainError/Code/refused``). The memory that replies take is not
/// limited.
///
/// A provider changes the secret and the attributes of an item one after the other, and has no
/// conditional writes. All stores of the user therefore share a writer lock; a program that does
/// not use the lock can change an item between the check and the change.
public final class SecretServiceStore: CredentialStore {
  /// The collection to use, and what the provider may do.
  public typealias Configuration = SecretServiceConfiguration

  /// A collection of the Secret Service: a keyring, database or wallet.
  public typealias Collection = SecretServiceCollection

  /// Whether the provider may ask a person.
  public typealias Interaction = SecretServiceInteraction

  /// The collection to use, and what the provider may do.
  public let configuration: Configuration

  /// The maximum number of items that a call reads.
  ///
  /// If a search finds more, or the collection has more, it throws ``KeychainError`` with
  /// ``KeychainError/Code/refused``.
  public static let maximumItemCount = BusValue.maximumElementCount

  let watch: ChangeWatch
  private let quietness: Quietness?

  /// Creates a handle; nothing is connected before the first use.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    watch = ChangeWatch(configuration)
    quietness = nil
  }

  /// Creates a second handle that shares its observers with another, and asks nothing to unlock.
  private init(_ store: SecretServiceStore, _ quietness: Quietness) {
    configuration = store.configuration
    watch = store.watch
    self.quietness = quietness
  }

  /// Runs an operation on the connection of the process.
  func run<Result: ~Copyable>(
    _ body: (ServiceOperation) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result { try ServiceOperation.run(configuration, quietness, body) }

  /// Returns this store for operations that ask nothing to unlock or to create the collection; see
  /// the protocol.
  ///
  /// A question that is part of a change is still asked: some providers ask before they remove an
  /// item. Without dialogs, such a change throws ``KeychainError`` with
  /// ``KeychainError/Code/refused``.
  package func quiet(forbiddingDialogs: Bool) -> any BuiltInStore {
    SecretServiceStore(self, forbiddingDialogs ? .withoutDialogs : .withoutUnlocking)
  }

  /// Returns a secret; see the protocol.
  ///
  /// If we have no such item and the access group is the unnamed one, another program's item is
  /// found by the names that the program gave it.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and no
  ///   person may be asked, ``KeychainError/Code/ambiguous`` if several items of other programs
  ///   have the name, ``KeychainError/Code/damaged``, ``KeychainError/Code/noStore`` or
  ///   ``KeychainError/Code/timedOut``.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      if let stored = try finder.ownSecretAtOnce(identity) { return stored }
      guard let found = try finder.item(identity) else { return nil }
      guard let secret = try operation.secret(of: found.item) else { return nil }
      return StoredSecret(credential: found.credential, secret: secret)
    }
  }

  /// Returns a credential without its secret; see the protocol.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      if let (found, _) = try finder.ownItemAtOnce(identity) { return found.credential }
      return try finder.item(identity)?.credential
    }
  }
}

extension ItemFinder {
  /// Returns our secret of an identity, if the provider returns it directly.
  fileprivate func ownSecretAtOnce(
    _ identity: CredentialIdentity
  ) throws(KeychainError) -> StoredSecret? {
    let own = try ownItemAtOnce(identity) { path throws(KeychainError) in
      try operation.secretQuestion(path, operation.session())
    }
    guard let (found, answer) = own,
      case .secret(let encrypted)? = try? answer?.get().elements.first,
      let stored = try operation.session().decrypt(encrypted),
      let secret = try StoredText.decode(stored)
    else { return nil }
    return StoredSecret(credential: found.credential, secret: secret)
  }
}

extension ServiceOperation {
  func secretQuestion(_ path: String, _ session: SecretSession) -> BusCall {
    call(
      path, Self.itemInterface, "GetSecret", [.objectPath(session.path)],
      reply: .values("(oayays)"))
  }

  /// Decrypts a secret from the provider, or requests it; `nil` if the item was removed.
  func secret(
    of item: ServiceItem, _ known: BusValue? = nil
  ) throws(KeychainError) -> SecretBytes? {
    guard let stored = try storedSecret(of: item, known) else { return nil }
    guard item.ours != nil else { return stored }
    guard let secret = try StoredText.decode(stored) else { throw .damagedItem(item) }
    return secret
  }

  /// Returns the encrypted secrets of items that the provider returns at once.
  func encryptedSecrets(of items: [ServiceItem]) throws(KeychainError) -> [String: BusValue] {
    guard !items.isEmpty else { return [:] }
    let session = try session()
    extendDeadline()
    let call = service(
      "GetSecrets", [.objectPaths(items.map(\.path)), .objectPath(session.path)],
      reply: .values("a{o(oayays)}"))
    let answer = results(of: [call]).first
    if let failure, failure.endsConnection { throw KeychainError(failure) }
    if let error = answer?.error, error == .unexpectedType { throw KeychainError(error) }
    // Missing secrets, such as those of individually locked items, are requested one by one.
    let pairs = (try? answer?.get())?.elements.first?.pairs ?? []
    return Dictionary(pairs.map { ($0.key.text ?? "", $0.value) }) { first, _ in first }
  }

  /// Reads a secret in its stored form; `nil` if the item was removed.
  ///
  /// An item may be locked individually: KeePassXC can ask about each one.
  private func storedSecret(
    of item: ServiceItem, _ known: BusValue?
  ) throws(KeychainError) -> SecretBytes? {
    let session = try session()
    if case .secret(let encrypted)? = known, let secret = try session.decrypt(encrypted) {
      return secret
    }
    if item.isLocked { try unlock(item.path) }
    let get = secretQuestion(item.path, session)
    var answer = results(of: [get])
    if case .failure(.isLocked)? = answer.first {
      try unlock(item.path)
      answer = results(of: [get])
    }
    let received: VariantReference
    do throws(BusError) {
      guard case .secret(let encrypted)? = try answer.first?.get().elements.first else {
        throw .failed
      }
      received = encrypted
    } catch {
      if error.isMissingObject { return nil }
      throw KeychainError(error)
    }
    guard let secret = try session.decrypt(received) else { throw KeychainError(.noSession) }
    return secret
  }
}

extension SecretServiceStore {
  /// Reads the secrets of all credentials that match a query, with a few messages for all of them.
  ///
  /// The result is that of ``search(_:)``, without credentials that were removed meanwhile.
  ///
  /// - Parameter body: Called with each secret and its credential, in any order. The provider is
  ///   not waiting meanwhile, so it may take long.
  /// - Throws: ``KeychainError`` as ``search(_:)`` does, with ``KeychainError/Code/locked`` if the
  ///   keyring is locked, or what `body` throws; it may have received secrets before.
  @discardableResult
  public func secrets(
    matching query: CredentialQuery,
    _ body: (consuming StoredSecret) throws(KeychainError) -> Void
  ) throws(KeychainError) -> CredentialSearchResult {
    try run { operation throws(KeychainError) in
      let items = try ItemFinder(operation).items(matching: query)
      var gone: Set<String> = []
      for start in stride(from: 0, to: items.count, by: ServiceOperation.batchCount) {
        let batch = items[start..<min(start + ServiceOperation.batchCount, items.count)]
        let encrypted = try operation.encryptedSecrets(of: batch.filter { $0.credential != nil })
        for item in batch {
          guard let credential = item.credential else { continue }
          guard let stored = try operation.secret(of: item, encrypted[item.path]) else {
            gone.insert(item.path)
            continue
          }
          operation.mustNotRepeat = true
          let start = ContinuousClock.now
          try body(StoredSecret(credential: credential, secret: stored))
          operation.giveBackTime(since: start)
        }
      }
      return CredentialSearchResult(items: items.filter { !gone.contains($0.path) })
    }
  }

  /// Returns the number of items in the collection, including those of other programs.
  ///
  /// It takes the same few messages for any number of items, and most providers answer while they
  /// are locked.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and
  ///   lists no items, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func itemCount() throws(KeychainError) -> Int {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      let count = try finder.allPaths().count
      if count == 0 { try finder.unlockIfNeeded() }
      return try count > 0 ? count : finder.allPaths().count
    }
  }

  /// Searches; see the protocol.
  ///
  /// Other programs' items match by the names that lists show, and belong to the unnamed access
  /// group. If the keyring is locked and no person may be asked, its items are counted, which is
  /// not an error.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if a locked keyring does not
  ///   return even the number of its items, ``KeychainError/Code/noStore`` or
  ///   ``KeychainError/Code/timedOut``.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      do throws(KeychainError) {
        return try finder.result(of: query)
      } catch let error where error.code == .locked {
        let count = try finder.allPaths().count
        guard count > 0 else { throw error }
        return CredentialSearchResult(credentials: [], lockedCount: count)
      }
    }
  }
}

extension CredentialSearchResult {
  init(items: [ServiceItem]) {
    self.init(
      credentials: items.compactMap(\.credential),
      damaged: items.filter(\.isUnreadable).map(\.name))
  }
}

extension SecretServiceStore {
  /// Observes changes; see the protocol.
  ///
  /// Changes by other programs are reported as well if the provider signals them (KeePassXC doesn't
  /// while it saves). Two quick changes of an item may be reported as one. Nothing is reported
  /// while the collection is locked, because a locked item is not removed; after unlocking, all
  /// differences are reported. The first observer waits until the provider answers or the deadline
  /// has passed. After the provider or the bus has ended, listening is retried every two seconds,
  /// without starting a provider.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation { watch.observe(observer) }
}

internal import KeychainCredentials
internal import KeychainSecrets

/// Learns of this process's own writes before they happen, so that their signals can be told from
/// those of other programs' writes.
protocol WriteAnnouncer: Sendable {
  func willWrite(version: UInt64)
  func willRemove(_ path: String)
}

/// Changes items while the lock of all writers is held.
struct ItemWriter: ~Copyable {
  let finder: ItemFinder
  private let lock: WriterLock
  private let announcer: any WriteAnnouncer

  init(
    _ finder: ItemFinder, _ lock: consuming WriterLock, announcingTo announcer: any WriteAnnouncer
  ) {
    self.finder = finder
    self.lock = lock
    self.announcer = announcer
  }

  private var operation: ServiceOperation { finder.operation }

  /// A version for the next change.
  borrowing func nextVersion() -> UInt64 {
    let version = lock.nextVersion()
    announcer.willWrite(version: version)
    return version
  }

  /// Our item of an identity, which must be there in the version expected.
  borrowing func existing(
    _ identity: CredentialIdentity, _ expectedVersion: UInt64?
  ) throws(KeychainError) -> FoundItem {
    guard let found = try finder.item(identity) else { throw .notFound(identity) }
    guard found.isOurs else {
      throw KeychainError(
        .refused, "\(identity) is another program's item of the desktop keyring",
        recovery: "change it with that program, or store a credential of this name here")
    }
    try found.credential.checkVersion(expectedVersion)
    return found
  }

  /// Adds an item.
  ///
  /// Providers replace by a part of the attributes, which destroys items of others: that
  /// is never asked for.
  borrowing func create(_ credential: Credential, secret: SharedSecret) throws(KeychainError) {
    let attributes = try attributes(of: credential)
    let session = try operation.session()
    let properties = BusValue.properties([
      (ServiceOperation.itemInterface + ".Label", .string(ItemAttributes.label(of: credential))),
      (ServiceOperation.itemInterface + ".Attributes", .stringPairs(attributes)),
    ])
    let encrypted = try encrypt(secret, session)
    operation.mustNotRepeat = true
    let answer = try operation.answer(
      to: operation.call(
        finder.collection, ServiceOperation.collectionInterface, "CreateItem",
        [properties, encrypted, .bool(false)], reply: .values("oo"))
    ).elements
    guard answer.count == 2, let prompt = answer[1].text else {
      throw KeychainError(BusError.failed)
    }
    guard prompt != "/" else { return }
    try operation.run(
      prompt: prompt, .silent,
      ifDenied: KeychainError(
        .refused, "the desktop keyring asks before it stores anything",
        recovery: "allow questions at the desktop"))
  }

  /// Changes an item in place: what is known about it, and its secret if one is given.
  ///
  /// The messages are sent together, the secret first, and readers ask for the version first: whoever reads
  /// between the two gets the new secret with the old version, which cannot be replaced any more. The
  /// other way round, an old secret would have the new version, and a change of it would be lost.
  borrowing func replace(
    _ item: ServiceItem, by credential: Credential, secret: SharedSecret?
  ) throws(KeychainError) {
    let attributes = try attributes(of: credential)
    var messages: [BusCall] = []
    if let secret {
      let encrypted = try encrypt(secret, operation.session())
      messages.append(
        operation.call(
          item.path, ServiceOperation.itemInterface, "SetSecret", [encrypted], reply: .nothing))
    }
    messages.append(
      operation.setProperty(
        item.path, "Attributes", .stringPairs(blankingLeftovers(of: item, attributes))))
    let label = ItemAttributes.label(of: credential)
    if !label.hasSameBytes(as: item.label) {
      messages.append(operation.setProperty(item.path, "Label", .string(label)))
    }
    operation.mustNotRepeat = true
    let answers = operation.results(of: messages)
    guard let failure = answers.compactMap({ $0.error }).first else { return }
    if !failure.endsConnection { restore(item) }
    throw KeychainError(failure)
  }

  /// Removes an item.
  borrowing func remove(_ item: ServiceItem) throws(KeychainError) {
    operation.mustNotRepeat = true
    announcer.willRemove(item.path)
    let answer = try operation.answer(
      to: operation.call(
        item.path, ServiceOperation.itemInterface, "Delete", reply: .values("o")))
    guard let prompt = answer.elements.first?.text, prompt != "/" else { return }
    try operation.run(
      prompt: prompt, .dialog,
      ifDenied: KeychainError(
        .refused, "the desktop keyring asks before it removes anything, and nobody may be asked",
        recovery: "allow questions at the desktop, or remove it there"))
  }

  /// Puts back what was known about an item whose change failed half-way.
  private borrowing func restore(_ item: ServiceItem) {
    let old = item.attributes.filter { !ItemAttributes.provided.contains($0.name) }
    _ = operation.results(of: [
      operation.setProperty(item.path, "Attributes", .stringPairs(old)),
      operation.setProperty(item.path, "Label", .string(item.label)),
    ])
  }

  /// KeePassXC drops no attribute: names that an item no longer has are set to nothing there.
  private borrowing func blankingLeftovers(
    of item: ServiceItem, _ attributes: CredentialAttributes
  ) -> CredentialAttributes {
    guard item.attributes["Uuid"] != nil else { return attributes }
    var result = attributes
    for old in item.attributes
    where !ItemAttributes.provided.contains(old.name) && result[old.name] == nil {
      result[old.name] = ""
    }
    return result
  }

  private borrowing func attributes(
    of credential: Credential
  ) throws(KeychainError) -> CredentialAttributes {
    guard let record = CredentialRecord(credential).text else {
      throw KeychainError(.internalFailure, "\(credential.identity) could not be written as JSON")
    }
    return ItemAttributes.all(of: credential, record: record)
  }

  private borrowing func encrypt(
    _ secret: SharedSecret, _ session: SecretSession
  ) throws(KeychainError) -> BusValue {
    .secret(try session.encrypt(secret.bytes))
  }
}

internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem
internal import SystemPackage

/// Notified of this process's own writes before they happen, to tell their signals from those of
/// other programs' writes.
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

  /// Returns a version for the next change.
  borrowing func nextVersion() -> UInt64 {
    let version = lock.nextVersion()
    announcer.willWrite(version: version)
    return version
  }

  /// Returns our item of an identity, which must exist and have the expected version.
  borrowing func existing(
    _ identity: CredentialIdentity, _ expectedVersion: UInt64?
  ) throws(KeychainError) -> FoundItem {
    guard let found = try finder.item(identity) else { throw .notFound(identity) }
    guard found.isOurs else {
      throw .itemOfOtherProgram(
        found, "change it with that program, or store a credential of this name here")
    }
    try found.credential.checkVersion(expectedVersion)
    return found
  }

  /// Adds an item.
  ///
  /// It never asks the provider to replace an item: providers compare only some of the attributes,
  /// and so destroy other items.
  borrowing func create(_ credential: Credential, secret: SharedSecret) throws(KeychainError) {
    let attributes = try attributes(of: credential)
    let session = try operation.session()
    let properties = BusValue.properties([
      (ServiceOperation.itemInterface + ".Label", .string(ItemAttributes.label(of: credential))),
      (ServiceOperation.itemInterface + ".Attributes", .stringPairs(attributes)),
    ])
    let encrypted = try encrypt(secret, session)
    let call = operation.call(
      finder.collection, ServiceOperation.collectionInterface, "CreateItem",
      [properties, encrypted, .bool(false)], reply: .values("oo"))
    try operation.changing(credential.identity) { [operation] () throws(KeychainError) in
      let answer = try operation.answer(to: call).elements
      guard answer.count == 2, let prompt = answer[1].text else {
        operation.note(.failed)
        throw KeychainError(BusError.failed)
      }
      guard prompt != "/" else { return }
      try operation.run(
        prompt: prompt, .silent,
        ifDenied: KeychainError(
          .refused, "the desktop keyring asks before it stores anything",
          recovery: "allow questions at the desktop"))
    }
  }

  /// Changes an item in place: its attributes, and its secret if one is given.
  ///
  /// The messages are sent together, the secret first, and readers ask for the version first. A
  /// reader in between gets the new secret with the old version, so that its change, which expects
  /// the old version, fails. In the opposite order, it would get the old secret with the new
  /// version, and its change would overwrite the new secret.
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
    try operation.changing(credential.identity) { [operation] () throws(KeychainError) in
      let answers = operation.results(of: messages)
      guard let failure = answers.compactMap({ $0.error }).first else { return }
      if !failure.endsConnection { Self.restore(item, operation) }
      // The new secret may be there under the old attributes.
      if secret != nil, answers.first?.error == nil { operation.note(.failed) }
      throw KeychainError(failure)
    }
  }

  borrowing func remove(_ item: ServiceItem, _ identity: CredentialIdentity) throws(KeychainError) {
    announcer.willRemove(item.path)
    let call = operation.call(
      item.path, ServiceOperation.itemInterface, "Delete", reply: .values("o"))
    try operation.changing(identity) { [operation] () throws(KeychainError) in
      let answer = try operation.answer(to: call)
      guard let prompt = answer.elements.first?.text, prompt != "/" else { return }
      try operation.run(
        prompt: prompt, .dialog,
        ifDenied: KeychainError(
          .refused, "the desktop keyring asks before it removes anything, and nobody may be asked",
          recovery: "allow questions at the desktop, or remove it there"))
    }
  }

  /// Restores the attributes of an item whose change failed half-way.
  private static func restore(_ item: ServiceItem, _ operation: ServiceOperation) {
    let old = item.attributes.filter { !ItemAttributes.provided.contains($0.name) }
    _ = operation.results(of: [
      operation.setProperty(item.path, "Attributes", .stringPairs(old)),
      operation.setProperty(item.path, "Label", .string(item.label)),
    ])
  }

  /// Clears removed attributes, because KeePassXC never removes any.
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

/// A lock for all our writers, because no provider can change an item conditionally.
///
/// It is in the user's runtime folder, because the user's desktop has one keyring. The file
/// contains the last version, so that versions grow even if the clock goes backwards. The lock does
/// not exclude other programs.
struct WriterLock: ~Copyable {
  private let lock: FileLock

  /// Opens the lock file, and waits for the lock.
  init(environment: [String: String], _ deadline: Deadline) throws(KeychainError) {
    do throws(FileError) {
      let folder = try Self.folder(EnvironmentVariables(environment))
      try PrivateFile.makeFolder(folder)
      let path = try TrustedPath(resolving: folder).path + "/secret-service.lock"
      lock = try FileLock(exclusive: path, deadline: deadline)
    } catch { throw KeychainError(ofWriterLock: error) }
  }

  /// Returns a version that is greater than all earlier ones.
  borrowing func nextVersion() -> UInt64 {
    let descriptor = lock.descriptor.rawValue
    var last: UInt64 = 0
    let size = MemoryLayout<UInt64>.size
    if unsafe pread(descriptor, &last, size, 0) != size { last = 0 }
    let now = UInt64(clamping: Date().microseconds ?? 0)
    // We never write a version that is far ahead of the clock.
    var next = last < now + Self.farAhead ? max(now, last + 1) : now
    _ = unsafe pwrite(descriptor, &next, size, 0)
    return next
  }

  private static let farAhead: UInt64 = 366 * 86_400 * 1_000_000

  private static func folder(_ environment: EnvironmentVariables) throws(FileError) -> String {
    let folders = UserFolders("keychain", environment: environment)
    if let folder = try folders.runtime() { return folder }
    return try folders.state()
  }
}

extension KeychainError {
  fileprivate init(ofWriterLock error: FileError) {
    switch error.kind {
    case .timedOut:
      self.init(
        .busy, "another program kept writing to the desktop keyring for too long",
        recovery: .tryAgain)
    case .noPlace(let reason):
      self.init(
        .inputOutput, "there is no place for the lock of the desktop keyring: \(reason)",
        recovery: "set XDG_RUNTIME_DIR or HOME")
    default: self.init(error)
    }
  }
}

public import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// The state of the desktop keyring, found without starting or unlocking anything.
public struct SecretServiceProbe: Sendable {
  /// The address of the session bus; `nil` if there is no usable one.
  public private(set) var busAddress: String?

  /// The process of the bus.
  public private(set) var busProcess: Int32?

  /// The running provider of the Secret Service.
  public private(set) var provider: Provider?

  /// Whether the bus can start a provider.
  public private(set) var isActivatable = false

  /// The object of the default collection; `nil` if there is none, or no provider is running.
  public private(set) var defaultCollection: String?

  /// Whether the default collection is locked.
  public private(set) var isLocked: Bool?

  /// Why the desktop keyring cannot be used now without asking; `nil` if it can.
  public private(set) var failure: KeychainError?

  /// A program that provides the Secret Service.
  public struct Provider: Hashable, Sendable {
    /// Its user.
    public let user: UInt32

    /// Its process.
    public let process: Int32

    /// Its name in the system.
    public let name: String?

    /// Whether it runs as the user of this process.
    public let isOurs: Bool
  }

  /// Probes the session bus.
  ///
  /// Nothing is activated, started, unlocked or asked. Without a bus, this takes much less than 50
  /// milliseconds.
  ///
  /// - Parameter deadline: How long to wait for answers.
  public static func run(deadline: Duration = .seconds(5)) -> SecretServiceProbe {
    run(environment: SessionEnvironment.ofProcess(), deadline: deadline)
  }

  package static func run(
    environment: [String: String], deadline: Duration = .seconds(5)
  ) -> SecretServiceProbe {
    var probe = SecretServiceProbe()
    do throws(KeychainError) {
      try probe.look(environment, Deadline(after: deadline))
    } catch { probe.failure = error }
    return probe
  }

  private mutating func look(
    _ environment: [String: String], _ deadline: Deadline
  ) throws(KeychainError) {
    let address = try BusAddress(environment: environment)
    busAddress = address.description
    // Found even if the library is missing.
    busProcess = try BusSocket(address, deadline).peer.process
    let bus = try BusConnection(address, deadline)
    defer { bus.close() }
    try translated(bus: lookAtProvider(bus, deadline))
    guard let provider else { throw .noProvider }
    guard provider.isOurs else { throw .providerOfAnotherUser(provider.user) }
    guard defaultCollection != nil else {
      throw KeychainError(.noStore, "the desktop keyring has no default collection")
    }
    if isLocked != false { throw .lockedKeyring }
  }

  private mutating func lookAtProvider(
    _ bus: BusConnection, _ deadline: Deadline
  ) throws(BusError) {
    let name = SecretServiceConnection.name
    let activatable = try bus.result(of: bus.activatableNames, deadline)
    isActivatable = activatable.elements.first?.texts.contains(name) ?? false
    guard let owner = try bus.owner(of: name, deadline) else { return }
    let identity = owner.identity
    provider = Provider(
      user: identity.user, process: identity.process, name: identity.name,
      isOurs: identity.isOurs)
    guard identity.isOurs else { return }
    let alias = try bus.result(
      of: BusCall(
        destination: owner.name, path: ServiceOperation.servicePath,
        interface: ServiceOperation.serviceInterface, method: "ReadAlias",
        arguments: [.string("default")], reply: .values("o")), deadline)
    guard let path = alias.elements.first?.text, path != "/" else { return }
    defaultCollection = path
    let locked = try bus.result(
      of: BusCall(
        destination: owner.name, path: path, interface: "org.freedesktop.DBus.Properties",
        method: "Get",
        arguments: [.string(ServiceOperation.collectionInterface), .string("Locked")],
        reply: .property("b")), deadline)
    isLocked = locked.elements.first?.bool
  }
}

extension ProcessIdentity {
  /// The program's name in the system.
  var name: String? {
    let text = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
    return text.map { String($0.split(separator: "\n", maxSplits: 1).first ?? "") }
  }
}

/// An item of the desktop keyring that another program stored without names of a credential.
///
/// It has no service or server, such as the items of Chrome or NetworkManager, or it was found by
/// an attribute that is a name for its program but not here. It can be read, but not changed.
public struct UnlistedItem: Hashable, Sendable {
  /// The program's name for the item; empty if it has none.
  public let label: String

  /// All attributes that the program gave it.
  public let attributes: CredentialAttributes

  /// When it was created, if the provider reports it.
  public let created: Date?

  /// When it was changed, if the provider reports it.
  public let modified: Date?

  /// The collection in which it was found, and its object there.
  package let collection: SecretServiceCollection
  package let path: String

  init(_ item: ServiceItem, in collection: SecretServiceCollection) {
    label = item.label
    attributes = item.attributes
    created = item.created
    modified = item.modified
    self.collection = collection
    path = item.path
  }
}

extension SecretServiceStore {
  /// Returns the items of other programs that searches for credentials don't show, ordered by
  /// label.
  ///
  /// - Parameter attributes: The attributes that the items must have, with the names that their
  ///   programs use. If empty, all items without names of a credential are returned.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and no
  ///   person may be asked, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func unlistedItems(
    matching attributes: CredentialAttributes = [:]
  ) throws(KeychainError) -> [UnlistedItem] {
    let query = CredentialQuery(accessGroup: "", attributes: attributes)
    let found = try run { operation throws(KeychainError) in
      try ItemFinder(operation).items(foundBy: query)
    }
    return found.filter { $0.isUnlisted(by: query) }
      .map { UnlistedItem($0, in: configuration.collection) }
      .sorted { $0.label.hasLesserBytes(than: $1.label) }
  }

  /// Returns the secret of an unlisted item as its program stored it; `nil` if the item was
  /// removed.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if it is locked and no person
  ///   may be asked, ``KeychainError/Code/refused`` if secrets would not be encrypted securely on
  ///   the bus, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func secret(of item: UnlistedItem) throws(KeychainError) -> SecretBytes? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      try finder.unlockIfNeeded()
      // Another item may have its path now.
      guard let found = try finder.items([item.path]).first, found.ours == nil,
        found.attributes == item.attributes
      else { return nil }
      return try operation.secret(of: found)
    }
  }
}

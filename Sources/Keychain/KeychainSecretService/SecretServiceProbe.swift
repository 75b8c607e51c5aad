internal import FoundationEssentials
public import KeychainCredentials
internal import PrephirencesSystem

/// The state of the desktop keyring, without starting or unlocking anything.
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
  /// - Returns: What was found.
  public static func run(deadline: Duration = .seconds(5)) -> SecretServiceProbe {
    run(environment: SessionEnvironment.ofProcess(), deadline: deadline)
  }

  package static func run(
    environment: [String: String], deadline: Duration = .seconds(5)
  ) -> SecretServiceProbe {
    var probe = SecretServiceProbe()
    do throws(KeychainError) {
      try probe.look(environment, Deadline(after: deadline))
    } catch {
      probe.failure = error
    }
    return probe
  }

  private mutating func look(
    _ environment: [String: String], _ deadline: Deadline
  ) throws(KeychainError) {
    let address = try BusAddress(environment: environment)
    busAddress = address.description
    // Known even if the library is missing.
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

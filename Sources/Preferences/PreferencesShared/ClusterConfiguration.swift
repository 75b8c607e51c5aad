internal import FoundationEssentials
package import PreferencesCore
package import PreferencesDurable
package import PrephirencesEtcd
package import PrephirencesSystem
internal import SystemPackage

extension SharingConfiguration {
  /// Completes an address without endpoints, `etcd+https:///prefix`, from the variables
  /// `ETCDCTL_…`.
  ///
  /// An address with endpoints ignores the variables: they could add the name and certificate of
  /// another cluster. They are read once, when somebody names the address. The saved configuration
  /// is complete, so no environment can later send preferences or a password elsewhere.
  package func completed(
    by environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> SharingConfiguration {
    let parsed = try Self.address(address)
    guard parsed.endpoints.isEmpty, let start = address.utf8.firstRange(of: "://".utf8)?.upperBound
    else {
      return self
    }
    let scheme = parsed.usesTLS ? "https://" : "http://"
    let hosts = try Self.hosts(scheme, parsed.prefix, environment)
    var completed = self
    completed.address = address[..<start] + hosts + address[start...]
    if certificateAuthority == nil {
      completed.certificateAuthority = try Self.path("ETCDCTL_CACERT", environment)
    }
    if certificate == nil, key == nil {
      completed.certificate = try Self.path("ETCDCTL_CERT", environment)
      completed.key = try Self.path("ETCDCTL_KEY", environment)
    }
    if user == nil { completed.user = try Self.user(environment) }
    return completed
  }

  /// Returns the hosts with their ports, as they appear in an address.
  private static func hosts(
    _ scheme: String, _ prefix: String, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    guard let list = try translated(environment.value("ETCDCTL_ENDPOINTS")) else {
      throw .unusable(
        "the address names no endpoint; add one, such as etcd+https://host:2379/\(prefix), "
          + "or set ETCDCTL_ENDPOINTS")
    }
    var hosts: [String] = []
    for entry in list.split(separator: ",") {
      var host = entry.drop { $0 == " " }
      while host.last == " " { host.removeLast() }
      if host.hasPrefix(scheme) { host.removeFirst(scheme.count) }
      if host.hasSuffix("/") { host.removeLast() }
      guard !host.isEmpty, !host.contains("/"), !host.contains("@") else {
        throw .unusable(
          "ETCDCTL_ENDPOINTS has an endpoint that is not a host with a port, or does not begin "
            + "with \(scheme)")
      }
      hosts.append(String(host))
    }
    let joined = hosts.joined(separator: ",")
    do throws(PreferencesError) {
      _ = try address("etcd+" + scheme + joined)
    } catch {
      throw PreferencesError(error.code, "ETCDCTL_ENDPOINTS: \(error.message)")
    }
    return joined
  }

  private static func user(
    _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String? {
    guard let name = try translated(environment.value("ETCDCTL_USER")) else { return nil }
    guard !name.contains(":") else {
      throw .unusable(
        "ETCDCTL_USER has a password in it; leave only the name, and put the password into a file "
          + "or the keychain")
    }
    return name
  }

  /// The absolute path in a variable: other programs would read a relative one in other folders.
  private static func path(
    _ variable: String, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String? {
    guard let path = try translated(environment.value(variable)) else { return nil }
    return try translated(TrustedPath.fromRoot(path))
  }
}

extension SharingConfiguration {
  /// Returns how the cluster is reached, and the prefix of all rows: `<prefix>/<store>/`.
  package func cluster(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> (client: EtcdConfiguration, prefix: String) {
    try check()
    let address = try Self.address(address)
    var client = EtcdConfiguration(endpoints: address.endpoints, usesTLS: address.usesTLS)
    client.certificateAuthority = certificateAuthority
    client.certificate = certificate
    client.key = key
    client.user = user
    client.proxy = proxy
    if user != nil {
      client.password = try password(environment)
      client.passwordSource = [
        passwordFile, passwordReference, try? environment.value("CREDENTIALS_DIRECTORY"),
      ].map { $0 ?? "" }
    }
    let prefix = address.prefix.isEmpty ? "" : address.prefix + "/"
    return (client, prefix + (store ?? suiteName) + "/")
  }

  /// What the store calls this machine.
  package var machineName: String { machine ?? MachineRow.hostName }

  /// The settings that are written into the file of preferences.
  package var settings: SharingSettings {
    var settings = SharingSettings()
    if let quotaKeys { settings.quota.keys = quotaKeys }
    if let quotaBytes { settings.quota.bytes = quotaBytes }
    settings.programDecides = programDecides ?? false
    settings.place = place
    return settings
  }

  /// Identifies the store, its endpoints and its user.
  private var place: String {
    [
      address, store, certificateAuthority, certificate, key, user, passwordFile,
      passwordReference, proxy,
    ].map { $0 ?? "" }.joined(separator: "\n")
  }

  /// Fails if fields contradict each other.
  func check() throws(PreferencesError) {
    let address = try Self.address(address)
    let reason: String? =
      if address.endpoints.isEmpty {
        "the field 'address' names no endpoint, such as etcd+https://host:2379/prefix; "
          + "share the suite again, which records those of ETCDCTL_ENDPOINTS"
      } else if let store, store.isEmpty || store.contains("/") || store.utf8.contains(0) {
        "the field 'store' is empty, or has a slash or a zero byte"
      } else if (certificate == nil) != (key == nil) {
        "of the fields 'certificate' and 'key', one is missing"
      } else if passwordFile != nil, passwordReference != nil {
        "only one of the fields 'passwordFile' and 'passwordReference' can be set"
      } else if user == nil, passwordFile != nil || passwordReference != nil {
        "there is a password, but no user; set the field 'user', too"
      } else if let user, user.isEmpty || user.contains(":") {
        "the field 'user' is empty, or has a password in it; put that into a file of its own"
      } else if let proxy, Self.hasPassword(proxy) {
        "the field 'proxy' has a password in it"
      } else if proxy != nil, !address.usesTLS {
        "the field 'proxy' needs an address with etcd+https: without TLS nothing leaves this "
          + "machine"
      } else if quotaKeys.map({ $0 < 1 }) ?? false {
        "the field 'quotaKeys' is less than 1"
      } else if quotaBytes.map({ $0 < 1 }) ?? false {
        "the field 'quotaBytes' is less than 1"
      } else if let machine, !MachineRow.isName(machine) {
        "the field 'machine' is empty, has more than \(MachineRow.greatestName) bytes, or has "
          + "characters that are not shown"
      } else {
        nil
      }
    if let reason { throw .unusable(reason) }
  }

  private static func hasPassword(_ proxy: String) -> Bool {
    let authority =
      (proxy.utf8.firstRange(of: "://".utf8).map { proxy[$0.upperBound...] } ?? proxy[...])
      .prefix { $0 != "/" }
    return authority.contains("@")
  }

  package static func address(_ text: String) throws(PreferencesError) -> EtcdAddress {
    try PreferencesShared.reporting { try EtcdAddress(text) }
  }
}

extension SharingConfiguration {
  /// Returns a closure that reads the password; it is called each time the password is needed.
  func password(
    _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> @Sendable () throws -> [UInt8] {
    if let passwordFile {
      return { try PasswordFile(path: passwordFile, environment: environment).contents() }
    }
    if let passwordReference {
      return { try PasswordReferences.shared.password(at: passwordReference) }
    }
    throw .unusable(
      "there is a user, but no password; set the field 'passwordFile' or 'passwordReference'")
  }
}

/// A file with a password.
///
/// It may belong to root. Nobody else may read it, except a group if systemd provides the file as
/// the credential of a service.
struct PasswordFile {
  let path: String
  let environment: EnvironmentVariables

  private static let greatestSize = 65_536

  /// Reads the password without its trailing line break.
  func contents() throws -> [UInt8] {
    var bytes: [UInt8]
    do throws(FileError) {
      bytes = try read()
    } catch {
      throw EtcdError(
        .passwordUnavailable, "the password cannot be read: \(PreferencesError(error).message)")
    }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.count < Self.greatestSize else {
      throw EtcdError(
        .passwordUnavailable, "the file of the password is empty or too long: \(path)")
    }
    return bytes
  }

  private func read() throws(FileError) -> [UInt8] {
    let file = try TrustedPath(resolving: path)
    guard let stat = try PrivateFile.look(file.path) else {
      throw .failed(.noSuchFileOrDirectory, "read", path)
    }
    try PrivateFile.check(
      stat, file.path, ownerMayBeRoot: true,
      forbidden: try isCredential(file) ? 0o027 : 0o077)
    do throws(Errno) {
      let descriptor = try PrivateFile.open(file.path)
      defer { try? descriptor.close() }
      return try DescriptorIO.read(descriptor, Self.greatestSize)
    } catch {
      throw .failed(error, "read", path)
    }
  }

  /// Whether systemd provides the file to this service, readable by a group.
  private func isCredential(_ file: TrustedPath) throws(FileError) -> Bool {
    guard let folder = try environment.absolutePath("CREDENTIALS_DIRECTORY") else { return false }
    return try file.path.hasPrefix(TrustedPath(resolving: folder).path + "/")
  }
}

/// Reads references to passwords with the closure that this program has set.
final class PasswordReferences: Sendable {
  static let shared = PasswordReferences()

  typealias Reader = @Sendable (String) throws -> [UInt8]

  private let reader = PosixMutex<Reader?>(nil)

  func read(with reader: @escaping Reader) { self.reader.withLock { $0 = reader } }

  func password(at reference: String) throws -> [UInt8] {
    guard let reader = reader.withLock({ $0 }) else {
      throw EtcdError(
        .passwordUnavailable,
        "this program does not read the password at \(reference); call "
          + "SharedPreferences.readReferences, or share by a program that reads it")
    }
    do {
      return try reader(reference)
    } catch {
      // The text of the error could contain the password.
      throw EtcdError(
        .passwordUnavailable,
        "the password at \(reference) cannot be read: "
          + PreferencesError.converting(error, "the reference cannot be resolved").message)
    }
  }
}

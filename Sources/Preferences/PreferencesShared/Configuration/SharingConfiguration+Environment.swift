internal import Foundation
package import Prephirences
internal import PrephirencesEtcd
package import PrephirencesSystem

extension SharingConfiguration {
  /// Returns the configuration with what its address leaves open: in `etcd+https:///prefix`, the
  /// variables `ETCDCTL_…` name the endpoints, and the files and the user that are not set.
  ///
  /// They say nothing of an address with endpoints, which would get the name and certificate of
  /// another cluster otherwise. They count when somebody names the address, and never later: what is
  /// saved has all of it, so that no environment sends preferences or a password elsewhere.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidAddress``.
  package func completed(
    by environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> SharingConfiguration {
    let parsed = try Self.address(address)
    guard parsed.endpoints.isEmpty, let start = address.range(of: "://")?.upperBound else {
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

  /// The hosts with their ports, as an address has them.
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
      var host = entry.trimmingCharacters(in: [" "])
      if host.hasPrefix(scheme) { host.removeFirst(scheme.count) }
      if host.hasSuffix("/") { host.removeLast() }
      guard !host.isEmpty, !host.contains("/"), !host.contains("@") else {
        throw .unusable(
          "ETCDCTL_ENDPOINTS has an endpoint that is not a host with a port, or does not begin with "
            + scheme)
      }
      hosts.append(host)
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

  /// The path of a variable, from the root: other programs read it in other folders.
  private static func path(
    _ variable: String, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String? {
    guard let path = try translated(environment.value(variable)) else { return nil }
    return try translated(TrustedPath.fromRoot(path))
  }
}

internal import Foundation
package import Prephirences
package import PrephirencesDurable
package import PrephirencesEtcd
package import PrephirencesFiles

extension SharingConfiguration {
  /// Returns how the cluster is reached, and the prefix of all rows: `<prefix>/<store>/`.
  ///
  /// The variables `ETCDCTL_…` complete an address without endpoints. They say nothing of one with
  /// endpoints, which would get the name and certificate of another cluster otherwise.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidAddress``.
  package func cluster(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> (client: EtcdConfiguration, prefix: String) {
    try check()
    let address = try Self.address(address)
    var endpoints = address.endpoints
    var completed = self
    if endpoints.isEmpty {
      endpoints = try Self.endpoints(for: address, environment)
      try completed.complete(environment)
      try completed.check()
    }
    var client = EtcdConfiguration(endpoints: endpoints, usesTLS: address.usesTLS)
    client.certificateAuthority = completed.certificateAuthority
    client.certificate = completed.certificate
    client.key = completed.key
    client.user = completed.user
    client.proxy = completed.proxy
    if completed.user != nil { client.password = try completed.password(environment) }
    let prefix = address.prefix.isEmpty ? "" : address.prefix + "/"
    return (client, prefix + (store ?? suiteName) + "/")
  }

  /// What the file of the preferences must know.
  package var settings: SharingSettings {
    var settings = SharingSettings()
    if let quotaKeys { settings.quota.keys = quotaKeys }
    if let quotaBytes { settings.quota.bytes = quotaBytes }
    settings.programDecides = programDecides ?? false
    settings.place = place
    return settings
  }

  /// Everything by which a worker reaches the store.
  private var place: String {
    [
      address, store, certificateAuthority, certificate, key, user, passwordFile,
      passwordReference, proxy,
    ].map { $0 ?? "" }.joined(separator: "\n")
  }

  /// Fails if the fields do not fit each other.
  func check() throws(PreferencesError) {
    let address = try Self.address(address)
    let reason: String? =
      if let store, store.isEmpty || store.contains("/") || store.utf8.contains(0) {
        "the field 'store' is empty, or has a slash or a zero byte"
      } else if (certificate == nil) != (key == nil) {
        "of the fields 'certificate' and 'key', one is missing"
      } else if passwordFile != nil, passwordReference != nil {
        "only one of the fields 'passwordFile' and 'passwordReference' can be set"
      } else if let user, user.isEmpty || user.contains(":") {
        "the field 'user' is empty, or has a password in it; put that into a file of its own"
      } else if let proxy, Self.hasPassword(proxy) {
        "the field 'proxy' has a password in it"
      } else if proxy != nil, !address.usesTLS {
        "the field 'proxy' needs an address with etcd+https: without TLS nothing leaves this machine"
      } else if quotaKeys.map({ $0 < 1 }) ?? false {
        "the field 'quotaKeys' is less than 1"
      } else if quotaBytes.map({ $0 < 1 }) ?? false {
        "the field 'quotaBytes' is less than 1"
      } else {
        nil
      }
    if let reason { throw .unusable(reason) }
  }

  private static func hasPassword(_ proxy: String) -> Bool {
    let authority = (proxy.range(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...])
      .prefix { $0 != "/" }
    return authority.contains("@")
  }

  private static func address(_ text: String) throws(PreferencesError) -> EtcdAddress {
    do throws(EtcdError) {
      return try EtcdAddress(text)
    } catch {
      throw PreferencesError(error)
    }
  }

  private static func endpoints(
    for address: EtcdAddress, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> [EtcdConfiguration.Endpoint] {
    guard let list = environment.value("ETCDCTL_ENDPOINTS") else {
      throw .unusable(
        "the address names no endpoint; add one, such as etcd+https://host:2379/\(address.prefix), "
          + "or set ETCDCTL_ENDPOINTS")
    }
    let scheme = address.usesTLS ? "https://" : "http://"
    var hosts: [String] = []
    for entry in list.split(separator: ",") {
      var host = String(entry).trimmingSpaces
      if host.hasPrefix(scheme) { host.removeFirst(scheme.count) }
      if host.hasSuffix("/") { host.removeLast() }
      guard !host.isEmpty, !host.contains("/") else {
        throw .unusable(
          "ETCDCTL_ENDPOINTS has an endpoint that is not a host with a port, or does not begin with "
            + scheme)
      }
      hosts.append(host)
    }
    return try Self.address("etcd+" + scheme + hosts.joined(separator: ",")).endpoints
  }

  private mutating func complete(
    _ environment: EnvironmentVariables
  ) throws(PreferencesError) {
    if certificateAuthority == nil { certificateAuthority = environment.value("ETCDCTL_CACERT") }
    if certificate == nil, key == nil {
      certificate = environment.value("ETCDCTL_CERT")
      key = environment.value("ETCDCTL_KEY")
    }
    guard user == nil, let name = environment.value("ETCDCTL_USER") else { return }
    guard !name.contains(":") else {
      throw .unusable(
        "ETCDCTL_USER has a password in it; leave only the name, and put the password into a file "
          + "or the keychain")
    }
    user = name
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

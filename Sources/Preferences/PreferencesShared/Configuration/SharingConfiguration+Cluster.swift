internal import Foundation
package import PreferencesDurable
package import Prephirences
package import PrephirencesEtcd
package import PrephirencesSystem

extension SharingConfiguration {
  /// Returns how the cluster is reached, and the prefix of all rows: `<prefix>/<store>/`.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidAddress``.
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

  /// The name that the store has of this machine.
  package var machineName: String { machine ?? MachineRow.hostName }

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
        "the field 'proxy' needs an address with etcd+https: without TLS nothing leaves this machine"
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
    let authority = (proxy.range(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...])
      .prefix { $0 != "/" }
    return authority.contains("@")
  }

  static func address(_ text: String) throws(PreferencesError) -> EtcdAddress {
    do throws(EtcdError) {
      return try EtcdAddress(text)
    } catch {
      throw PreferencesError(error)
    }
  }
}

internal import Foundation
package import Prephirences
package import PrephirencesEtcd
package import PrephirencesFiles

/// Where a suite is shared, as the file `prephirences/shared/SUITE.json` in the folder that
/// `XDG_CONFIG_HOME` names has it.
package struct SharingConfiguration: Sendable, Hashable, Codable {
  /// `etcd+https://a:2379,b:2379/prefix`, without a password.
  package var address: String
  /// The name of the store under the prefix; the suite's by default.
  package var store: String?
  package var certificateAuthority: String?
  package var certificate: String?
  package var key: String?
  package var user: String?
  /// A file with the password, or a reference such as `keychain://etcd/fleet`.
  package var passwordFile: String?
  package var passwordReference: String?
  package var proxy: String?
  package var quotaKeys: Int?
  package var quotaBytes: Int?

  package init(address: String) { self.address = address }

  /// Returns the configuration of a suite; `nil` if it is not shared.
  package static func load(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> SharingConfiguration? { nil }

  /// Writes it, atomically, 0600.
  package func save(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) {
    throw PreferencesError(.inputOutput, "not built yet")
  }

  package static func remove(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) {
    throw PreferencesError(.inputOutput, "not built yet")
  }

  /// The suites that are shared.
  package static func suiteNames(
    environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> [String] { [] }

  /// How the cluster is reached, completed by `ETCDCTL_…` where the address leaves it open.
  package func cluster(
    environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> (client: EtcdConfiguration, prefix: String) {
    throw PreferencesError(.inputOutput, "not built yet")
  }
}

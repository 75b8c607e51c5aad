internal import PreferencesDurable
internal import PreferencesShared
internal import PreferencesCore

/// A suite that this machine shares.
struct SharedSuite {
  let name: String
  let configuration: SharingConfiguration

  init(_ name: String, _ configuration: SharingConfiguration) {
    self.name = name
    self.configuration = configuration
  }

  /// The name of the store under the prefix of the address.
  var store: String { configuration.store ?? name }

  /// The file with its values, and with what is unsent.
  var replica: SharedReplica { SharedReplica(DurablePreferences(suiteName: name)) }

  /// Returns where the engine has it.
  func direct(
    timeout: Duration = DirectStore.timeout
  ) throws(PreferencesError) -> DirectStore {
    let (cluster, prefix) = try configuration.cluster(suiteName: name)
    return DirectStore(
      cluster: cluster, layout: StoreLayout(prefix: prefix), machine: configuration.machineName,
      timeout: timeout)
  }

  /// Returns the names of all; none if they cannot be found out.
  static func names() -> [String] { (try? SharingConfiguration.suiteNames()) ?? [] }
}

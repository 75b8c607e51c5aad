internal import PreferencesShared
internal import PrephirencesEtcd

extension StoreOptions {
  /// Returns a shared store: through this machine's copy if it has one, else where the engine has it.
  ///
  /// Without options for the connection, the settings of a suite at the same cluster are used, also
  /// its endpoints: its password goes nowhere else.
  ///
  /// - Parameters:
  ///   - name: The name of the store.
  ///   - text: The address.
  ///   - isRehearsal: Whether changes are not made. Then a copy is left as it is, and what would change
  ///     is read where the engine has it.
  ///   - notice: Gets what a person should know.
  /// - Returns: The store.
  /// - Throws: `PreferencesError` if the address or a setting cannot be used.
  func domainStore(
    named name: String, at text: String, isRehearsal: Bool, notice: @escaping (String) -> Void
  ) throws -> any DomainStore {
    let given = try SharingConfiguration(address: text).completed().address
    let address = try SharedAddress(given)
    var sameEngine: SharingConfiguration?
    for suite in (try? SharingConfiguration.suiteNames()) ?? [] {
      // One that cannot be read is reported by the commands that need it.
      guard let configuration = (try? SharingConfiguration.load(suiteName: suite)) ?? nil,
        let other = try? SharedAddress(configuration.address), other.isSameEngine(as: address)
      else { continue }
      if other.prefix == address.prefix, (configuration.store ?? suite).isSameBytes(as: name) {
        let suite = SharedSuite(suite, configuration)
        guard isRehearsal else { return CopyDomain(SharedCopy(suite, notice: notice)) }
        return DirectDomain(
          store: try suite.direct(), address: text, copy: FileDomain(named: suite.name))
      }
      sameEngine = sameEngine ?? configuration
    }
    var configuration: SharingConfiguration
    if let sameEngine, !connection.isGiven {
      configuration = sameEngine
      configuration.address = SharedAddress.address(sameEngine.address, withPathOf: text)
    } else {
      configuration = try connection.configuration(for: text)
    }
    configuration.store = name
    let (cluster, prefix) = try configuration.cluster(suiteName: name)
    return DirectDomain(
      store: DirectStore(
        cluster: cluster, layout: StoreLayout(prefix: prefix), machine: configuration.machineName),
      address: text)
  }
}

extension String {
  fileprivate func isSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

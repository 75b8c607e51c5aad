internal import PrephirencesEtcd
internal import PrephirencesShared

extension StoreOptions {
  /// Returns a shared store: through this machine's copy if it has one, else where the engine has it.
  ///
  /// - Parameters:
  ///   - name: The name of the store.
  ///   - text: The address.
  /// - Returns: The store.
  /// - Throws: `PreferencesError` if the address or a setting cannot be used.
  func domainStore(named name: String, at text: String) throws -> any DomainStore {
    let address = try SharedAddress(text)
    var sameEngine: SharingConfiguration?
    for suite in (try? SharingConfiguration.suiteNames()) ?? [] {
      // One that cannot be read is reported by the commands that need it.
      guard let configuration = (try? SharingConfiguration.load(suiteName: suite)) ?? nil,
        let other = try? SharedAddress(configuration.address), other.isSameEngine(as: address)
      else { continue }
      if other.prefix == address.prefix, (configuration.store ?? suite).isSameBytes(as: name) {
        return CopyDomain(suiteName: suite)
      }
      sameEngine = sameEngine ?? configuration
    }
    var configuration = sameEngine ?? SharingConfiguration(address: text)
    configuration.address = text
    configuration.store = name
    if passwordFile != nil || passwordRef != nil {
      configuration.passwordFile = passwordFile
      configuration.passwordReference = passwordRef
    }
    let (cluster, prefix) = try configuration.cluster(suiteName: name)
    return DirectDomain(
      store: DirectStore(cluster: cluster, layout: StoreLayout(prefix: prefix)),
      address: text)
  }
}

extension String {
  fileprivate func isSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

#if ConfigurationSupport
internal import Configuration
internal import ConfigurationValues
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// The secrets of a ``KeychainProvider`` at one moment, in guarded memory.
///
/// A credential that expires afterwards stays readable.
struct KeychainSnapshot: ConfigSnapshot {
  let providerName: String
  private let declared: DeclaredKeys
  let secrets: [ReadSecret]

  init(providerName: String, declared: DeclaredKeys, secrets: [ReadSecret]) {
    self.providerName = providerName
    self.declared = declared
    self.secrets = secrets
  }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    guard let index = declared.index(of: key) else { return LookupResult(undeclared: key) }
    return try declared[index].result(secrets[index], type)
  }
}

extension KeychainSnapshot: CustomStringConvertible {
  var description: String { "\(providerName)[\(secrets.count) keys]" }
}
#endif

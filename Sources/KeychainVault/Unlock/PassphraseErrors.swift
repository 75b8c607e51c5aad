package import KeychainCredentials

extension KeychainError {
  /// A new passphrase of a vault is empty.
  package static let emptyPassphrase = emptyPassphrase(
    recovery: "choose one, or none: a vault without any is protected by the device key only")

  /// The passphrase of a new export is empty.
  package static let emptyExportPassphrase = emptyPassphrase(recovery: "choose one for the export")

  private static func emptyPassphrase(recovery: Recovery) -> Self {
    Self(.refused, "an empty passphrase protects nothing", recovery: recovery)
  }
}

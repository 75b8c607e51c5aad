internal import KeychainCredentials
package import KeychainVault
internal import PrephirencesSystem

extension PassphraseRequest {
  /// Returns the question that a person reads.
  package func question(from name: String) -> String {
    let isEither = takesRecoveryCode && kind != .recoveryCode
    let what = isEither ? "\(kind) or recovery code" : "\(kind)"
    let again = failedAttempts > 0 ? "that \(what) is wrong; try again\n" : ""
    return "\(again)\(name): \(what) of \(vaultPath.visible): "
  }
}

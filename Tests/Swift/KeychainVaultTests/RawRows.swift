import KeychainCredentials
import KeychainVaultTesting
import PrephirencesFiles

@testable import KeychainVault

extension TestVault {
  /// Changes rows as somebody does who can write the file and has no key.
  func write(
    _ body: (any WritableVaultRows) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    // Another handle, so that nothing seen is compared.
    let session = try handle().existingSession()
    try session.opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in try body(rows)
    }
  }
}

internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

extension VaultRecipient {
  /// Reads an argument.
  init(argument text: String) throws {
    do throws(KeychainError) {
      self = try VaultRecipient(text: text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}

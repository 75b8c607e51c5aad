internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// Which cost a new passphrase slot gets, and whether a hash can be computed now.
enum PasswordHashPolicy {
  /// What a process needs beside the hash itself.
  private static let margin: UInt64 = 16 << 20

  /// The cost of a new slot: moderate; interactive where memory is short; never less.
  static func parametersForNewSlot() throws(KeychainError) -> PasswordHash.Parameters {
    for parameters in [PasswordHash.Parameters.moderate, .interactive] where fits(parameters) {
      return parameters
    }
    throw .passwordHashMemory(.interactive)
  }

  /// Checks that a hash can be computed without the system ending the process for it.
  static func requireMemory(for parameters: PasswordHash.Parameters) throws(KeychainError) {
    guard fits(parameters) else { throw .passwordHashMemory(parameters) }
  }

  private static func fits(_ parameters: PasswordHash.Parameters) -> Bool {
    AvailableMemory.bytes().map { $0 >= parameters.memory + margin } ?? true
  }
}

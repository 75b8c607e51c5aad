internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// The cost of new passphrase slots, and whether a hash can be computed now.
enum PasswordHashPolicy {
  /// The memory that a process needs in addition to the hash.
  private static let margin: UInt64 = 16 << 20

  /// Returns the cost of a new slot: moderate, or interactive if memory is short.
  static func parametersForNewSlot() throws(KeychainError) -> PasswordHash.Parameters {
    if fits(.moderate) { return .moderate }
    try requireMemory(for: .interactive)
    return .interactive
  }

  /// Checks that a hash fits into memory, so that the system does not end the process.
  static func requireMemory(for parameters: PasswordHash.Parameters) throws(KeychainError) {
    guard fits(parameters) else { throw .passwordHashMemory(parameters) }
  }

  private static func fits(_ parameters: PasswordHash.Parameters) -> Bool {
    AvailableMemory.bytes().map { $0 >= parameters.memory + margin } ?? true
  }
}

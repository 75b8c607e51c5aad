internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// The key file that a command lets open the vault, beside the one that unlocks now.
struct NewKeyFileOptions: ParsableArguments {
  @Option(
    help: .init("Make a key file, and let it open the vault", valueName: "path"),
    completion: .file())
  var newKeyFile: String?

  @Option(
    help: .init("Let a key file that is there open the vault", valueName: "path"),
    completion: .file())
  var withKeyFile: String?

  func validate() throws {
    guard newKeyFile == nil || withKeyFile == nil else {
      throw ValidationError(UsageText.oneKeyFile)
    }
  }

  var isGiven: Bool { newKeyFile != nil || withKeyFile != nil }

  /// Calls `body` with the path of the key file, which is made first if that was asked for, and
  /// removed again if `body` fails.
  func withKeyFile<Result>(
    _ body: (String?) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    guard let newKeyFile else { return try body(withKeyFile) }
    let key = try translating { () throws(SecretsError) in try SecretBytes.random(count: 32) }
    try key.write(toNewFile: newKeyFile)
    do throws(KeychainError) {
      return try body(newKeyFile)
    } catch {
      unlink(newKeyFile)
      throw error
    }
  }
}

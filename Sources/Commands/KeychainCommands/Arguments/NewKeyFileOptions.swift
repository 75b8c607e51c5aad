internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// The key file that will open the vault, which is not the one that unlocks it now.
struct NewKeyFileOptions: ParsableArguments {
  @Option(
    help: .init("Create a key file, and let it open the vault", valueName: "path"),
    completion: .file())
  var newKeyFile: String?

  @Option(
    help: .init("Let an existing key file open the vault", valueName: "path"),
    completion: .file())
  var withKeyFile: String?

  func validate() throws {
    guard newKeyFile == nil || withKeyFile == nil else {
      throw ValidationError(UsageText.oneKeyFile)
    }
  }

  var isGiven: Bool { newKeyFile != nil || withKeyFile != nil }

  /// Calls `body` with the path of the key file.
  ///
  /// A new key file is created first, and removed again if `body` surely changed nothing.
  ///
  /// - Parameters:
  ///   - readers: Who may be able to use a new file where the file system has no modes.
  ///   - body: Lets the key file open the vault.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``KeychainError`` if the new file cannot be written.
  func withKeyFile<Result>(
    readers: SecretFileReaders, _ body: (String?) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    guard let newKeyFile else { return try body(withKeyFile) }
    let key = try translated(secrets: SecretBytes.random(count: 32))
    try key.write(toNewFile: newKeyFile, readers: readers)
    do throws(KeychainError) {
      return try body(newKeyFile)
    } catch {
      throw error.removing(newKeyFile)
    }
  }
}

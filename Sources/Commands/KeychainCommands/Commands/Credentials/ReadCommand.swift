internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// Reads what a reference names.
struct ReadCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "read",
    abstract: "Print what a reference names",
    discussion: """
      A reference is an address that a configuration file can have in place of a secret: \
      keychain://SERVICE/ACCOUNT, with an empty service for \
      '\(KeychainCommandContext.current.defaultService)', or \
      keychain+https://[ACCOUNT@]HOST[:PORT][/PATH] for the password of a server. Each part is \
      percent-encoded. After '?' follow parameters, with '&' between them: group=NAME, \
      field=secret, username, url, label or attribute:NAME, encoding=base64, optional.

      Put it in quotes: '&' and '?' mean something to the shell. Exactly the bytes are printed; on a \
      terminal a newline follows. With optional, nothing is printed for what does not exist; every \
      other failure stays one.

      Example:
        \(keychainPath) read 'keychain://example.com/alice'
        \(keychainPath) read 'keychain://example.com/alice?field=label&optional'
        \(keychainPath) read 'keychain+https://git.example.com:8443?field=username'
      """)

  @Argument(help: "The reference, in quotes", completion: .references)
  var reference: String

  @Flag(help: "Print a secret that has expired")
  var allowExpired = false

  @OptionGroup var destination: SecretDestinationOptions

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func perform(in session: Session) throws(KeychainError) {
    // Not read by the argument parser, which would repeat what may be a secret by mistake.
    let reference = try CredentialReference(reference)
    let value = try session.explaining(reference) { () throws(KeychainError) in
      try read(reference, in: session)
    }
    try destination.write(
      value, keeping: session.vaultPaths,
      readers: session.vault.secretFileReaders(), within: common.deadline)
  }

  private func read(
    _ reference: CredentialReference, in session: Session
  ) throws(KeychainError) -> SecretBytes {
    var resolver = session.resolver()
    resolver.allowsExpired = allowExpired
    do throws(KeychainError) {
      return try resolver.resolve(reference)
    } catch {
      guard error.code == .expired else { throw error }
      throw KeychainError(
        .expired, error.message,
        recovery: "store a new secret, or read the old one with --allow-expired")
    }
  }
}

internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// A secret that a person or program presents to open a vault.
struct PresentedSecret: ~Copyable {
  let kind: SlotKind

  /// The passphrase, the contents of a key file, the code's bytes, or the seed of an identity.
  let secret: SecretBytes

  /// The source, as errors name it.
  let source: String

  /// The vaults that it may open; empty for any vault.
  var pins: [VaultCheck] = []

  /// The path of the key file or identity file, if it came from one.
  var path: String?
}

/// Finds the sources of unlocking secrets, and reads them.
struct UnlockSources: Sendable {
  let policy: SecretFilePolicy

  private var environment: EnvironmentVariables { policy.environment }

  /// Reads a source that was given explicitly.
  func present(_ source: UnlockSource) throws(KeychainError) -> PresentedSecret {
    switch source.kind {
    case .passphrase(let provide):
      PresentedSecret(kind: .passphrase, secret: try provide(), source: source.name)
    case .passphraseFile(let path): try passphraseFile(path, source.name)
    case .keyFile(let path): try keyFile(path, source.name)
    case .recoveryCode(let provide): try Self.recoveryCode(try provide(), source.name)
    case .recoveryCodeFile(let path): try recoveryCodeFile(path, source.name)
    case .identityFile(let path): try identity(path, source.name)
    }
  }

  /// The sources that need no question, in their order; only the first counts.
  var ambient: [AmbientSource] {
    let variables = AmbientSource.variables.filter { environment.isSet($0.name) }
    let folder: String?
    do throws(KeychainError) { folder = try policy.credentialsFolder() } catch {
      // Reading it reports what is wrong with the variable.
      return variables + AmbientSource.systemCredentials
    }
    guard let folder else { return variables }
    return variables
      + AmbientSource.systemCredentials.filter {
        // A link that leads nowhere was meant to be used. Reading it reports what is missing.
        (try? Stat(FilePath(folder + "/" + $0.name), followTargetSymlink: false)) != nil
      }
  }

  /// The system's credentials folder, if nothing in it unlocks the vault.
  var emptyCredentialsFolder: String? {
    guard let folder = try? policy.credentialsFolder() else { return nil }
    return ambient.contains(where: AmbientSource.systemCredentials.contains) ? nil : folder
  }

  /// The key files among the ambient sources, including those after the first source.
  var ambientKeyFiles: [(name: String, path: String)] {
    ambient.compactMap { source in
      guard let path = try? path(of: source) else { return nil }
      return switch source {
      case .keyFile: (source.name, path)
      case .systemKey: (path, path)
      default: nil
      }
    }
  }

  /// Reads the first ambient source; `nil` if there is none.
  func presentAmbient() throws(KeychainError) -> PresentedSecret? {
    guard let source = ambient.first else { return nil }
    let path = try path(of: source) ?? ""
    switch source {
    case .passphraseFile: return try passphraseFile(path, source.name)
    case .keyFile: return try keyFile(path, source.name)
    case .identityFile: return try identity(path, source.name)
    case .passphrase:
      guard let secret = try environment.secret(source.name) else { return nil }
      return PresentedSecret(kind: .passphrase, secret: secret, source: source.name)
    case .systemPassphrase: return try passphraseFile(path, path)
    case .systemKey: return try keyFile(path, path)
    }
  }

  /// Returns the path of the file of a source; `nil` for a variable that holds the secret itself.
  func path(of source: AmbientSource) throws(KeychainError) -> String? {
    switch source {
    case .passphraseFile, .keyFile, .identityFile: try translated(environment.value(source.name))
    case .passphrase: nil
    case .systemPassphrase, .systemKey:
      try policy.credentialsFolder().map { $0 + "/" + source.name }
    }
  }

  private func passphraseFile(
    _ path: String, _ name: String
  ) throws(KeychainError) -> PresentedSecret {
    let contents = try SecretFile.named(path, name: name, policy: policy)
    let secret = try translated(secrets: contents.droppingTrailingNewline())
    guard secret.count > 0 else {
      throw KeychainError(
        .incorrectSecret, "\(SecretFile.describe(path, name)) holds no passphrase")
    }
    return PresentedSecret(kind: .passphrase, secret: secret, source: name)
  }

  private func keyFile(_ path: String, _ name: String) throws(KeychainError) -> PresentedSecret {
    PresentedSecret(
      kind: .keyFile, secret: try KeyFile.read(path, name: name, policy: policy),
      source: name, path: path)
  }

  private func recoveryCodeFile(
    _ path: String, _ name: String
  ) throws(KeychainError) -> PresentedSecret {
    let text = try SecretFile.named(path, name: name, policy: policy)
    return try Self.recoveryCode(text, name)
  }

  static func recoveryCode(
    _ text: borrowing SecretBytes, _ name: String
  ) throws(KeychainError) -> PresentedSecret {
    let code = try RecoveryCode(text: text)
    return PresentedSecret(
      kind: .recoveryCode, secret: try SharedSecret(copying: code.bytes).copy(), source: name)
  }

  private func identity(_ path: String, _ name: String) throws(KeychainError) -> PresentedSecret {
    let file = try identityFile(path, name)
    return PresentedSecret(
      kind: .recipient, secret: try SharedSecret(copying: file.identity.seed).copy(),
      source: name, pins: file.pins, path: path)
  }

  /// Reads an identity file.
  func identityFile(_ path: String, _ name: String) throws(KeychainError) -> IdentityFile {
    let text = try SecretFile.named(path, name: name, policy: policy)
    return try IdentityFile(text: text, name: SecretFile.describe(path, name))
  }
}

/// A source that needs no question.
enum AmbientSource: CaseIterable {
  case passphraseFile, keyFile, identityFile, passphrase, systemPassphrase, systemKey

  static let variables: [Self] = [.passphraseFile, .keyFile, .identityFile, .passphrase]
  static let systemCredentials: [Self] = [.systemPassphrase, .systemKey]

  /// The name of the variable, or of the file in the credentials folder.
  var name: String {
    switch self {
    case .passphraseFile: "KEYCHAIN_PASSPHRASE_FILE"
    case .keyFile: "KEYCHAIN_KEY_FILE"
    case .identityFile: "KEYCHAIN_IDENTITY_FILE"
    case .passphrase: "KEYCHAIN_PASSPHRASE"
    case .systemPassphrase: "keychain.passphrase"
    case .systemKey: "keychain.key"
    }
  }
}

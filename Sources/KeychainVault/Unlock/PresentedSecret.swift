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

  static func recoveryCode(
    _ text: borrowing SecretBytes, _ source: String
  ) throws(KeychainError) -> PresentedSecret {
    let code = try RecoveryCode(text: text)
    return PresentedSecret(
      kind: .recoveryCode, secret: try translated(secrets: code.bytes.copy()), source: source)
  }
}

/// Finds the sources of unlocking secrets, and reads them.
struct UnlockSources: Sendable {
  /// The source that is used alone, if one was given explicitly.
  let given: UnlockSource?
  let policy: SecretFilePolicy

  private var environment: EnvironmentVariables { policy.environment }

  func present(_ source: UnlockSource) throws(KeychainError) -> PresentedSecret {
    let name = source.name
    switch source.kind {
    case .passphrase(let provide):
      return PresentedSecret(kind: .passphrase, secret: try provide(), source: name)
    case .passphraseFile(let path):
      let contents = try SecretFile.named(path, name: name, policy: policy)
      let secret = try translated(secrets: contents.droppingTrailingNewline())
      guard secret.count > 0 else {
        throw KeychainError(
          .incorrectSecret, "\(SecretFile.describe(path, name)) holds no passphrase")
      }
      return PresentedSecret(kind: .passphrase, secret: secret, source: name)
    case .keyFile(let path):
      let contents = try KeyFile.read(path, name: name, policy: policy)
      return PresentedSecret(kind: .keyFile, secret: contents, source: name, path: path)
    case .recoveryCode(let provide): return try .recoveryCode(try provide(), name)
    case .recoveryCodeFile(let path):
      return try .recoveryCode(try SecretFile.named(path, name: name, policy: policy), name)
    case .identityFile(let path):
      let file = try identityFile(path, name)
      return PresentedSecret(
        kind: .recipient, secret: try translated(secrets: file.identity.seed.copy()), source: name,
        pins: file.pins, path: path)
    }
  }

  func identityFile(_ path: String, _ name: String) throws(KeychainError) -> IdentityFile {
    let text = try SecretFile.named(path, name: name, policy: policy)
    return try IdentityFile(text: text, name: SecretFile.describe(path, name))
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

  /// The source that opens the vault without a question; `nil` if there is none.
  var first: UnlockSource? {
    get throws(KeychainError) {
      if let given { return given }
      return try ambient.first.map { ambient throws(KeychainError) in try source(ambient) }
    }
  }

  /// The given source, or all ambient ones that can be found.
  var all: [UnlockSource] { given.map { [$0] } ?? ambient.compactMap { try? source($0) } }

  /// Reads the first ambient source; `nil` if there is none.
  func presentAmbient() throws(KeychainError) -> PresentedSecret? {
    guard let ambient = ambient.first else { return nil }
    return try present(source(ambient))
  }

  private func source(_ ambient: AmbientSource) throws(KeychainError) -> UnlockSource {
    let (name, path) = (ambient.name, try path(of: ambient) ?? "")
    switch ambient {
    case .passphraseFile: return .passphraseFile(path, named: name)
    case .keyFile: return .keyFile(path, named: name)
    case .identityFile: return .identityFile(path, named: name)
    case .systemPassphrase: return .passphraseFile(path)
    case .systemKey: return .keyFile(path)
    case .passphrase:
      return .passphrase(named: name) { [environment] () throws(KeychainError) in
        guard let secret = try environment.secret(name) else {
          throw KeychainError(.incorrectSecret, "\(name) holds no passphrase")
        }
        return secret
      }
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
}

/// A source that needs no question: a variable, or a file in the system's credentials folder.
enum AmbientSource: String {
  case passphraseFile = "KEYCHAIN_PASSPHRASE_FILE"
  case keyFile = "KEYCHAIN_KEY_FILE"
  case identityFile = "KEYCHAIN_IDENTITY_FILE"
  case passphrase = "KEYCHAIN_PASSPHRASE"
  case systemPassphrase = "keychain.passphrase"
  case systemKey = "keychain.key"

  static let variables: [Self] = [.passphraseFile, .keyFile, .identityFile, .passphrase]
  static let systemCredentials: [Self] = [.systemPassphrase, .systemKey]

  var name: String { rawValue }
}

extension UnlockSource {
  /// The environment variables that unlock a vault, or name a file that does.
  package static var environmentVariables: [String] { AmbientSource.variables.map(\.name) }
}

internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// A secret that a person or program presents to open a vault.
struct PresentedSecret: ~Copyable {
  let kind: SlotKind

  /// The passphrase, the contents of a key file, the code's bytes, or the seed of an identity.
  let secret: SecretBytes

  /// The source of the secret in errors.
  let source: String

  /// The vaults that it may open; empty for any vault.
  var pins: [VaultCheck] = []

  /// The path of the key file or identity file, if the secret is from one.
  var path: String?

  static func recoveryCode(
    _ text: borrowing SecretBytes, _ source: String
  ) throws(KeychainError) -> PresentedSecret {
    let code = try RecoveryCode(text: text)
    return PresentedSecret(
      kind: .recoveryCode, secret: try code.bytes.copy(), source: source)
  }
}

// MARK: - Sources of unlocking secrets

extension VaultConfiguration {
  func present(_ source: UnlockSource) throws(KeychainError) -> PresentedSecret {
    let name = source.name
    switch source.kind {
    case .passphrase(let provide):
      return PresentedSecret(kind: .passphrase, secret: try provide(), source: name)
    case .passphraseFile(let path):
      let contents = try SecretFile.named(path, name: name, policy: secretFilePolicy)
      let secret = try contents.droppingTrailingNewline()
      guard secret.count > 0 else {
        throw KeychainError(
          .incorrectSecret, "\(SecretFile.describe(path, name)) holds no passphrase")
      }
      return PresentedSecret(kind: .passphrase, secret: secret, source: name)
    case .keyFile(let path):
      let contents = try KeyFile.read(path, name: name, policy: secretFilePolicy)
      return PresentedSecret(kind: .keyFile, secret: contents, source: name, path: path)
    case .recoveryCode(let provide): return try .recoveryCode(try provide(), name)
    case .recoveryCodeFile(let path):
      return try .recoveryCode(
        try SecretFile.named(path, name: name, policy: secretFilePolicy), name)
    case .identityFile(let path):
      let file = try identityFile(path, name)
      return PresentedSecret(
        kind: .recipient, secret: try file.identity.seed.copy(), source: name,
        pins: file.pins, path: DescriptorPath.number(path) == nil ? path : nil)
    }
  }

  func identityFile(_ path: String, _ name: String) throws(KeychainError) -> IdentityFile {
    let text = try SecretFile.named(path, name: name, policy: secretFilePolicy)
    return try IdentityFile(text: text, name: SecretFile.describe(path, name))
  }

  /// The sources that need no question, in order; only the first counts.
  var ambientSources: [AmbientSource] {
    let variables = AmbientSource.variables.filter { environment.isSet($0.name) }
    let folder: String?
    do throws(KeychainError) { folder = try secretFilePolicy.credentialsFolder() } catch {
      // Reading it reports what is wrong with the variable.
      return variables + AmbientSource.systemCredentials
    }
    guard let folder else { return variables }
    return variables
      + AmbientSource.systemCredentials.filter {
        // A broken link counts, because it was meant to be used: reading it reports what is
        // missing.
        (try? Stat(FilePath(folder + "/" + $0.name), followTargetSymlink: false)) != nil
      }
  }

  /// The system's credentials folder, if nothing in it unlocks the vault.
  var emptyCredentialsFolder: String? {
    guard let folder = try? secretFilePolicy.credentialsFolder() else { return nil }
    return ambientSources.contains(where: AmbientSource.systemCredentials.contains) ? nil : folder
  }

  /// The given source, which is used alone, or else the first ambient one; `nil` if there is none.
  var firstSource: UnlockSource? {
    get throws(KeychainError) {
      if let unlock { return unlock }
      return try ambientSources.first.map { ambient throws(KeychainError) in try source(ambient) }
    }
  }

  /// The given source, or all ambient ones that can be found.
  var allSources: [UnlockSource] {
    unlock.map { [$0] } ?? ambientSources.compactMap { try? source($0) }
  }

  /// Reads the first source, without asking anybody; `nil` if there is none.
  func presentFirst() throws(KeychainError) -> PresentedSecret? {
    guard let source = try firstSource else { return nil }
    return try present(source)
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

  /// Returns the path of the file of a source; `nil` for a variable that contains the secret
  /// itself.
  func path(of source: AmbientSource) throws(KeychainError) -> String? {
    switch source {
    case .passphraseFile, .keyFile, .identityFile: try translated(environment.value(source.name))
    case .passphrase: nil
    case .systemPassphrase, .systemKey:
      try secretFilePolicy.credentialsFolder().map { $0 + "/" + source.name }
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

// MARK: - Key files

extension KeyFile {
  /// Reads a key file; errors call its source `name`.
  static func read(
    _ path: String, name: String, policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretBytes {
    let contents = try SecretFile.named(path, name: name, policy: policy)
    guard contents.count >= KeyFile.counts.lowerBound else {
      throw KeychainError(
        .refused, "the key file \(path) has \(contents.count) bytes; it needs at least 32",
        recovery: "use a file of random bytes, which \(.addSlot(.keyFile)) makes")
    }
    return contents
  }
}

/// Estimates how hard it is to guess a key file that contains text: key files should be random, and
/// are not stretched.
///
/// Text with spaces is guessable below 100 bits, which are ten words. Text without spaces could be
/// an encoded key, and is guessable below 75 bits: 32 random bytes have 160 or more in hexadecimal,
/// some 150 in base64.
struct KeyFileText {
  private var bits = 0
  private var letterCount = 0
  private var previous: (byte: UInt8, kind: Kind)?
  private var previousMark: UInt8?
  private var hasInnerSpace = false

  /// Whether the contents of a key file look like a few readable words.
  static func isGuessable(_ contents: borrowing SecretBytes) -> Bool {
    contents.withBytes { bytes in
      guard (try? UTF8Span(validating: Span<UInt8>(_bytes: bytes))) != nil else { return false }
      var text = KeyFileText()
      for offset in 0..<bytes.byteCount {
        let byte = bytes.byte(at: offset)
        guard let kind = Kind(byte) else { return false }
        text.add(byte, kind)
      }
      return text.bits + text.wordBits < (text.hasInnerSpace ? 100 : 75)
    }
  }

  private enum Kind {
    case lower, upper, digit, mark, space

    /// Returns the kind of a byte; `nil` for control characters.
    init?(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: self = .lower
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
      case 0x09, 0x0A, 0x0D, 0x20: self = .space
      case 0x21...0x7E: self = .mark
      default: return nil
      }
    }
  }

  private mutating func add(_ byte: UInt8, _ kind: Kind) {
    if previous?.kind == .space, kind != .space, bits + letterCount > 0 { hasInnerSpace = true }
    switch (previous?.kind, kind) {
    case (.lower, .lower), (.upper, .upper): letterCount += 1
    case (.upper, .lower) where letterCount == 1: letterCount += 1
    default:
      bits += wordBits
      letterCount = kind == .lower || kind == .upper ? 1 : 0
      if kind == .digit, byte != previous?.byte { bits += 3 }
      if kind == .mark {
        if byte != previousMark { bits += 4 }
        previousMark = byte
      }
    }
    previous = (byte, kind)
  }

  /// The bits of the current word: 10 for up to eight letters, or 4 for each letter, as in random
  /// bytes in hexadecimal.
  private var wordBits: Int { letterCount <= 2 ? 4 * letterCount : 10 * ((letterCount + 7) / 8) }
}

public import KeychainSecrets
internal import KeychainVaultFormat

/// The source of a secret that unlocks a vault.
public struct UnlockSource: Sendable {
  enum Kind: Sendable {
    case passphrase(@Sendable () throws(KeychainError) -> SecretBytes)
    case passphraseFile(path: String)
    case keyFile(path: String)
    case recoveryCode(@Sendable () throws(KeychainError) -> SecretBytes)
    case recoveryCodeFile(path: String)
    case identityFile(path: String)
  }

  let kind: Kind

  /// The name of the source in errors.
  let name: String

  /// Returns a source whose passphrase comes from a closure, called at most once for each
  /// unlocking.
  ///
  /// Errors call the source `name`, such as `the pipe`.
  public static func passphrase(
    named name: String, _ provide: @escaping @Sendable () throws(KeychainError) -> SecretBytes
  ) -> Self { Self(kind: .passphrase(provide), name: name) }

  /// Returns a source that reads a passphrase from a file, without one newline at its end.
  ///
  /// The file must belong to the user or to root, and be closed to others; see
  /// ``VaultConfiguration/secretFileReaders``. Errors call the source `name`, or else its path; so
  /// do those of the other sources in files.
  public static func passphraseFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .passphraseFile(path: path), name: name ?? path)
  }

  /// Returns a source that reads a key file: 32 bytes to 64 KiB of any kind, all of which count.
  ///
  /// The file must be closed to others as for ``passphraseFile(_:named:)``.
  public static func keyFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .keyFile(path: path), name: name ?? path)
  }

  /// Returns a source whose recovery code, as it was typed, comes from a closure, called at most
  /// once for each unlocking.
  ///
  /// Errors call the source `name`, such as `the pipe`.
  public static func recoveryCode(
    named name: String, _ provide: @escaping @Sendable () throws(KeychainError) -> SecretBytes
  ) -> Self { Self(kind: .recoveryCode(provide), name: name) }

  /// Returns a source that reads a recovery code from a file.
  ///
  /// The file must be closed to others as for ``passphraseFile(_:named:)``.
  public static func recoveryCodeFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .recoveryCodeFile(path: path), name: name ?? path)
  }

  /// Returns a source that reads an identity file, which opens the vaults that have a slot for its
  /// recipient.
  ///
  /// If the file contains pins, it opens only those vaults: see the article VaultReaders of
  /// `KeychainVaultFormat`. It must be closed to others as for ``passphraseFile(_:named:)``.
  public static func identityFile(_ path: String, named name: String? = nil) -> Self {
    Self(kind: .identityFile(path: path), name: name ?? path)
  }
}

internal import FoundationEssentials
internal import Glibc
package import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
package import PrephirencesSystem
internal import SystemPackage

enum SecretFile {
  static let passphraseLimit = 65536

  /// Reads a whole file; `nil` if it has more than `limit` bytes.
  static func contents(
    of path: String, limit: Int, within timeout: Duration = .seconds(10)
  ) throws(KeychainError) -> SecretBytes? {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path)
      defer { try? descriptor.close() }
      do throws(KeychainError) {
        return try SecretBytes.reading(
          fileDescriptor: descriptor.rawValue, limit: limit,
          awaiting: Deadline(after: timeout).awaitInput)
      } catch { throw Errno(rawValue: error.systemError ?? ENOMEM) }
    } catch {
      if error == .timedOut { throw KeychainError(FileError(.endless, path)) }
      throw .system(error, "read", path)
    }
  }

  /// Reads a passphrase or key file that the user named, and which may belong to root; errors call
  /// the source `name`.
  static func named(
    _ path: String, name: String, policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretBytes {
    try requireNoSecret(asNameOf: path, given: name)
    let described = describe(path, name)
    if let number = DescriptorPath.number(path),
      let contents = try InheritedSecrets.contents(of: number, described, within: policy.timeout)
    {
      return contents
    }
    let resolved = try translated(TrustedPath(resolving: path))
    let stat = try translated(
      onFile(described, "read", Stat(FilePath(resolved.path), followTargetSymlink: false)))
    let forbidden = try readers(of: resolved, policy).forbiddenBits
    do throws(FileError) {
      // Only the user and root can replace the file before it is opened: the folders above were
      // checked.
      try PrivateFile.check(stat, resolved.path, ownerMayBeRoot: true, forbidden: forbidden)
    } catch { throw KeychainError(ofSecretFile: error) }
    let contents = try contents(of: resolved.path, limit: passphraseLimit, within: policy.timeout)
    guard let contents else { throw tooLarge(described) }
    return contents
  }

  /// Refuses the text of an identity or a recovery code in place of a path, because errors show
  /// paths.
  fileprivate static func requireNoSecret(
    asNameOf path: String, given name: String
  ) throws(KeychainError) {
    // The path may contain the whole text of a file.
    let words = path.split(whereSeparator: \.isWhitespace)
    guard
      isRecoveryCode(path[...])
        || words.contains(where: { $0.hasPrefix(VaultIdentity.prefix) || isRecoveryCode($0) })
    else { return }
    let place = name == path ? "" : " of \(name)"
    throw KeychainError(
      .invalidArgument, "the path of the file\(place) is a secret itself, and is not shown",
      recovery: "write the secret to a file that is closed to others, and name that")
  }

  private static func isRecoveryCode(_ text: Substring) -> Bool {
    guard text.utf8.count < 100, !text.contains("/"),
      let bytes = try? SecretBytes(copying: String(text))
    else { return false }
    return (try? RecoveryCode(text: bytes)) != nil
  }

  fileprivate static func tooLarge(_ described: String) -> KeychainError {
    KeychainError(.tooLarge, "\(described) has more than 64 KiB")
  }

  /// Makes a file that the user named durable, before the vault depends on it.
  static func sync(_ path: String) throws(KeychainError) {
    guard DescriptorPath.number(path) == nil else { return }
    try translated(PrivateFile.sync(TrustedPath(resolving: path).path))
  }

  /// Returns who may read the file; in and below the folder of the system's credentials, where
  /// Kubernetes puts links to a folder of the same volume, the system sets group permissions.
  fileprivate static func readers(
    of file: TrustedPath, _ policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretFileReaders {
    let readers = try policy.readers()
    guard readers == .owner, let folder = try policy.credentialsFolder() else { return readers }
    let isInside = try file.path.hasPrefix(translated(TrustedPath(resolving: folder)).path + "/")
    return isInside ? .group : .owner
  }

  /// Returns the name of a file and its source for errors.
  static func describe(_ path: String, _ source: String) -> String {
    path == source ? path : "\(path), named by \(source)"
  }
}

/// Secrets from inherited pipes, whose links in /proc are not paths that can be opened.
///
/// The maker of the pipe started this process, or has an ancestor in common with it. A pipe can be
/// read once, but the secret may be needed again.
private enum InheritedSecrets {
  private struct Kept {
    let number: Int32
    let identity: FileIdentity
    let secret: SharedSecret
  }

  private static let kept = PosixMutex<[Kept]>([])

  /// Reads a pipe to its end, or returns what was read before; `nil` if the descriptor is not a
  /// pipe.
  static func contents(
    of number: Int32, _ described: String, within timeout: Duration
  ) throws(KeychainError) -> SecretBytes? {
    guard let stat = try? Stat(FileDescriptor(rawValue: number)),
      stat.type == .fifo || stat.type == .socket
    else { return nil }
    return try kept.withLock { kept throws(KeychainError) in
      if let found = kept.first(where: { $0.number == number && $0.identity == stat.identity }) {
        return try found.secret.copy()
      }
      let secret = try read(number, described, within: timeout)
      kept.append(Kept(number: number, identity: stat.identity, secret: secret))
      return try secret.copy()
    }
  }

  private static func read(
    _ number: Int32, _ described: String, within timeout: Duration
  ) throws(KeychainError) -> SharedSecret {
    let secret: SecretBytes?
    do throws(KeychainError) {
      secret = try SecretBytes.reading(
        fileDescriptor: number, limit: SecretFile.passphraseLimit,
        awaiting: Deadline(after: timeout).awaitInput)
    } catch {
      throw error.systemError == ETIMEDOUT
        ? KeychainError(FileError(.endless, described))
        : .system(Errno(rawValue: error.systemError ?? ENOMEM), "read", described)
    }
    guard let secret else { throw SecretFile.tooLarge(described) }
    return SharedSecret(secret)
  }
}

extension KeychainError {
  /// Creates the error of a file with a secret; only for these can other readers be allowed.
  fileprivate init(ofSecretFile error: FileError) {
    self.init(error)
    guard case .insecure(.fileOpenToOthers(_, let mode, _)) = error.kind, mode & 0o022 == 0 else {
      return
    }
    let way: Recovery =
      mode & 0o007 == 0
      ? "if its group may read it, as in a container: \(.allowReaders(.group)), or "
        + "\(SecretFilePolicy.variable)=group"
      : "if everybody here may read it, as in a container: \(.allowReaders(.others)), or "
        + "\(SecretFilePolicy.variable)=others"
    self.init(
      code, message, recovery: [recovery, way].compactMap(\.self).joined(separator: "; "),
      underlying: underlying)
  }

  /// Creates the error of a new file with a secret; only for these can a file system without modes
  /// be accepted.
  package init(ofNewSecretFile error: FileError) {
    self.init(error)
    guard case .insecure(.mediumWithoutModes(let mode)) = error.kind else { return }
    let way: Recovery = "or accept it with \(.allowReaders(mode & 0o007 == 0 ? .group : .others))"
    self.init(code, message, recovery: [recovery, way].compactMap(\.self).joined(separator: "; "))
  }
}

extension EnvironmentVariables {
  /// Returns the value of a variable with a secret, copied once, into guarded memory.
  func secret(_ name: String) throws(KeychainError) -> SecretBytes? {
    try withBytes(of: name) { bytes throws(KeychainError) in
      try SecretBytes(copying: bytes)
    }
  }
}

/// Writes identity files; a reader finds the complete old or new file.
struct IdentityWriting {
  private let file: TrustedPath
  var path: String { file.path }

  init(_ path: String) throws(KeychainError) {
    try SecretFile.requireNoSecret(asNameOf: path, given: path)
    file = try translated(TrustedPath(resolving: path))
  }

  /// Creates a file with a new identity; fails if there is one already.
  ///
  /// On a file system without modes, `readers` may use it.
  func create(
    pins: [VaultCheck], readers: SecretFileReaders
  ) throws(KeychainError) -> VaultRecipient {
    let identity = try VaultIdentity.random()
    let text = try Self.text(identity, pins)
    do throws(FileError) {
      try PrivateFile.makeFolder(file.folder)
      try PrivateFile.create(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try text.write(to: descriptor)
      }
    } catch {
      guard error.kind == .alreadyExists else { throw KeychainError(ofNewSecretFile: error) }
      throw .fileExists(
        path, recovery: .nameNewFile + "; overwriting an identity loses what it opens")
    }
    return identity.recipient
  }

  /// Adds a pin to the file if one is given, and removes the pins for which `isDropped` returns
  /// `true`.
  func pin(
    _ check: VaultCheck?, name: String, policy: SecretFilePolicy,
    dropping isDropped: (VaultCheck) -> Bool
  ) throws(KeychainError) {
    let lock = try locked()
    defer { extendLifetime(lock) }
    let text = try SecretFile.named(path, name: name, policy: policy)
    let old = try IdentityFile(text: text, name: path)
    let isThere = check.map(old.pins.contains) ?? true
    guard !isThere || old.pins.contains(where: { $0 != check && isDropped($0) }) else { return }
    let lines = try IdentityFile.lines(of: text, name: path)
    let kept = lines.enumerated().filter { index, line in
      // Nothing after the last line feed is not a line.
      if index == lines.count - 1, line.isEmpty { return false }
      guard case .pin(let pin) = IdentityFile.content(of: text, line) else { return true }
      return pin != check && !isDropped(pin)
    }
    var buffer = try SecretBuffer()
    for (_, line) in kept {
      try text.withBytes { bytes throws(KeychainError) in
        try buffer.append(bytes.extracting(line))
      }
      try buffer.append("\n")
    }
    if let check { try buffer.append(IdentityFile.pinPrefix + "\(check)\n") }
    let new = try buffer.finish()
    let readers = try SecretFile.readers(of: file, policy)
    do throws(FileError) {
      try PrivateFile.replace(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try new.write(to: descriptor)
        if readers != .owner { try keepReaders(of: descriptor) }
      }
    } catch { throw KeychainError(ofNewSecretFile: error) }
  }

  /// Locks the file that has the name, so that of two changes at the same time none is lost.
  private func locked() throws(KeychainError) -> FileLock {
    let deadline = Deadline(after: .seconds(10))
    while true {
      let descriptor = try translated(onFile(path, "open", PrivateFile.open(path)))
      let lock = try translated(FileLock(exclusive: descriptor, path, deadline: deadline))
      // The previous holder of the lock may have given the name to a new file.
      if deadline.hasPassed || (try? Stat(lock.descriptor))?.identity == FileIdentity(path) {
        return lock
      }
    }
  }

  /// Opens a new file to the readers of the one that it replaces.
  private func keepReaders(of new: FileDescriptor) throws(Errno) {
    let (old, made) = (try Stat(FilePath(path), followTargetSymlink: false), try Stat(new))
    // A file system without modes keeps its own mode.
    guard old.permissions != made.permissions, old.permissions.rawValue & 0o077 != 0 else { return }
    // Another group must not get the permissions of the old one.
    let keepsGroup = fchown(new.rawValue, .max, old.groupID.rawValue) == 0
    let mode = old.permissions.rawValue & (keepsGroup ? 0o777 : 0o707)
    guard fchmod(new.rawValue, mode) == 0 else { throw .current }
  }

  private static func text(
    _ identity: borrowing VaultIdentity, _ pins: [VaultCheck]
  ) throws(KeychainError) -> SecretBytes {
    var buffer = try SecretBuffer()
    try buffer.append("# Anyone who has this file can open the vaults of the recipient\n")
    try buffer.append("# \(identity.recipient)\n")
    try buffer.append("# fingerprint \(identity.recipient.fingerprint)\n")
    try buffer.append(identity.text())
    try buffer.append("\n")
    for pin in pins { try buffer.append(IdentityFile.pinPrefix + "\(pin)\n") }
    return try buffer.finish()
  }
}

package import KeychainCredentials
internal import KeychainSecrets
package import PrephirencesFiles
internal import SystemPackage

/// Reads files that hold a secret.
enum SecretFile {
  static let passphraseLimit = 65536

  /// Reads a whole file; `nil` if it has more than `limit` bytes.
  static func contents(
    of path: String, limit: Int, within timeout: Duration = .seconds(10)
  ) throws(KeychainError) -> SecretBytes? {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path)
      defer { try? descriptor.close() }
      return try contents(of: descriptor, limit: limit, Deadline(after: timeout))
    } catch {
      if error == .timedOut { throw KeychainError(FileError(.endless, path)) }
      throw .system(error, "read", path)
    }
  }

  /// Reads a passphrase or key file that the user named, which may belong to root.
  ///
  /// `name` is how errors name the source. Without a policy, nobody else may be able to read it.
  static func named(
    _ path: String, name: String, policy: SecretFilePolicy?
  ) throws(KeychainError) -> SecretBytes {
    let described = describe(path, name)
    let resolved = try translated(TrustedPath(resolving: path))
    let stat: Stat
    do throws(Errno) {
      stat = try Stat(FilePath(resolved.path), followTargetSymlink: false)
    } catch {
      throw .system(error, "read", described)
    }
    // Only the user and root can replace the file before it is opened: the folders above it were
    // checked.
    try check(stat, resolved.path, readers: readers(of: resolved, policy))
    let contents = try contents(
      of: resolved.path, limit: passphraseLimit, within: policy?.timeout ?? .seconds(10))
    guard let contents else {
      throw KeychainError(.tooLarge, "\(described) has more than 64 KiB")
    }
    return contents
  }

  /// Makes a file durable that the user named, before the vault depends on it.
  static func sync(_ path: String) throws(KeychainError) {
    try translated(PrivateFile.sync(TrustedPath(resolving: path).path))
  }

  /// Checks the file, which may belong to root, and says how to allow other readers.
  private static func check(
    _ stat: Stat, _ path: String, readers: SecretFileReaders
  ) throws(KeychainError) {
    do throws(FileError) {
      try PrivateFile.check(stat, path, ownerMayBeRoot: true, forbidden: readers.forbiddenBits)
    } catch {
      throw KeychainError(ofSecretFile: error)
    }
  }

  /// Returns who may read the file.
  ///
  /// In and below the folder of the system's credentials, the system sets group permissions. Kubernetes
  /// puts links there that lead to a folder of the same volume.
  private static func readers(
    of file: TrustedPath, _ policy: SecretFilePolicy?
  ) throws(KeychainError) -> SecretFileReaders {
    guard let policy else { return .owner }
    let readers = try policy.readers()
    guard readers == .owner, let folder = try policy.credentialsFolder() else { return readers }
    let isInside = try file.path.hasPrefix(
      translated(TrustedPath(resolving: folder)).path + "/")
    return isInside ? .group : .owner
  }

  /// Returns how errors name a file and its source.
  static func describe(_ path: String, _ source: String) -> String {
    path == source ? path : "\(path), named by \(source)"
  }

  private static func contents(
    of descriptor: FileDescriptor, limit: Int, _ deadline: Deadline
  ) throws(Errno) -> SecretBytes? {
    do throws(SecretsError) {
      return try SecretBytes.reading(
        fileDescriptor: descriptor.rawValue, limit: limit, awaiting: deadline.awaitInput)
    } catch {
      throw error.code == .outOfMemory ? .noMemory : Errno(rawValue: error.systemError)
    }
  }
}

extension KeychainError {
  /// The error of a file with a secret: only for such files, other readers can be allowed.
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

  /// The error of a new file with a secret: only for it, a file system without modes can be accepted.
  package init(ofNewSecretFile error: FileError) {
    self.init(error)
    guard case .insecure(.mediumWithoutModes(let mode)) = error.kind else { return }
    let way: Recovery = "or accept it with \(.allowReaders(mode & 0o007 == 0 ? .group : .others))"
    self.init(
      code, message, recovery: [recovery, way].compactMap(\.self).joined(separator: "; "))
  }
}

extension EnvironmentVariables {
  /// Returns the value of a variable that holds a secret, copied once, into guarded memory.
  func secret(_ name: String) throws(KeychainError) -> SecretBytes? {
    try translated(
      secrets: withBytes(of: name) { bytes throws(SecretsError) in
        try SecretBytes(copying: bytes)
      })
  }
}

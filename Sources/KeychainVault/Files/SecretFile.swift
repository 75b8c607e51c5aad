internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import SystemPackage

/// Reads and makes files that hold a secret.
enum SecretFile {
  static let passphraseLimit = 65536

  /// Reads a whole file.
  ///
  /// - Returns: The bytes, or `nil` if there are more than `limit`.
  static func contents(of path: String, limit: Int) throws(KeychainError) -> SecretBytes? {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path)
      defer { try? descriptor.close() }
      return try contents(of: descriptor, limit: limit)
    } catch {
      throw .system(error, "read", path)
    }
  }

  /// Makes a file, open to the user alone, with these bytes, durably.
  ///
  /// It must not exist.
  static func create(_ path: String, contents: borrowing SecretBytes) throws(KeychainError) {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(path, .writeOnly, flags: O_CREAT | O_EXCL)
      defer { try? descriptor.close() }
      do throws(SecretsError) {
        try contents.write(toFileDescriptor: descriptor.rawValue)
      } catch {
        throw Errno(rawValue: error.systemError)
      }
      guard fsync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch {
      throw .system(error, "write", path)
    }
  }

  /// Reads a passphrase or key file that somebody named; it may belong to root.
  ///
  /// `name` is how errors name the source. Without a policy, nobody else may read the file.
  static func named(
    _ path: String, name: String, policy: SecretFilePolicy?
  ) throws(KeychainError) -> SecretBytes {
    let described = describe(path, name)
    let resolved = try TrustedPath(resolving: path)
    let stat: Stat
    do throws(Errno) {
      stat = try Stat(FilePath(resolved.path), followTargetSymlink: false)
    } catch {
      throw .system(error, "read", described)
    }
    // Nobody but the user and root can exchange the file between this look and its opening: the
    // folders above it were checked.
    try PrivateFile.check(
      stat, resolved.path, ownerMayBeRoot: true, readers: try readers(of: resolved, policy))
    guard let contents = try contents(of: resolved.path, limit: passphraseLimit) else {
      throw KeychainError(.tooLarge, "\(described) has more than 64 KiB")
    }
    return contents
  }

  /// In the folder of the system's credentials and below it, group permissions are the system's own.
  ///
  /// Kubernetes puts links there which lead to a folder of the same volume.
  private static func readers(
    of file: TrustedPath, _ policy: SecretFilePolicy?
  ) throws(KeychainError) -> SecretFileReaders {
    guard let policy else { return .owner }
    let readers = try policy.readers()
    guard readers == .owner, let folder = policy.credentialsFolder else { return readers }
    let isInside = file.path.hasPrefix(try TrustedPath(resolving: folder).path + "/")
    return isInside ? .group : .owner
  }

  /// How errors name a file that a source names.
  static func describe(_ path: String, _ source: String) -> String {
    path == source ? path : "\(path), named by \(source)"
  }

  private static func contents(
    of descriptor: FileDescriptor, limit: Int
  ) throws(Errno) -> SecretBytes? {
    do throws(SecretsError) {
      return try SecretBytes.reading(fileDescriptor: descriptor.rawValue, limit: limit)
    } catch {
      throw error.code == .outOfMemory ? .noMemory : Errno(rawValue: error.systemError)
    }
  }
}

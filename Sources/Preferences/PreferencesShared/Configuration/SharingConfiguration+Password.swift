internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem
internal import SystemPackage

extension SharingConfiguration {
  /// Returns how the password is read, each time that it is needed.
  func password(
    _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> @Sendable () throws -> [UInt8] {
    if let passwordFile {
      return { try PasswordFile(path: passwordFile, environment: environment).contents() }
    }
    if let passwordReference {
      return { try PasswordReferences.shared.password(at: passwordReference) }
    }
    throw .unusable(
      "there is a user, but no password; set the field 'passwordFile' or 'passwordReference'")
  }
}

/// A file with a password.
///
/// It may belong to root. Nobody else may be able to read it, except a group those of the system's
/// credentials of a service.
struct PasswordFile {
  let path: String
  let environment: EnvironmentVariables

  private static let greatestSize = 65_536

  /// Reads the password, without the end of its line.
  ///
  /// - Throws: `EtcdError` with `passwordUnavailable`.
  func contents() throws(EtcdError) -> [UInt8] {
    var bytes: [UInt8]
    do throws(FileError) {
      bytes = try read()
    } catch {
      throw EtcdError(
        .passwordUnavailable, "the password cannot be read: \(PreferencesError(error).message)")
    }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.count < Self.greatestSize else {
      throw EtcdError(
        .passwordUnavailable, "the file of the password is empty or too long: \(path)")
    }
    return bytes
  }

  private func read() throws(FileError) -> [UInt8] {
    let file = try TrustedPath(resolving: path)
    guard let stat = try PrivateFile.look(file.path) else {
      throw .failed(.noSuchFileOrDirectory, "read", path)
    }
    try PrivateFile.check(
      stat, file.path, ownerMayBeRoot: true,
      forbidden: try isCredential(file) ? 0o027 : 0o077)
    do throws(Errno) {
      let descriptor = try PrivateFile.open(file.path)
      defer { try? descriptor.close() }
      return try DescriptorIO.read(descriptor, Self.greatestSize)
    } catch {
      throw .failed(error, "read", path)
    }
  }

  /// Whether the system gives the file to this service, with permissions for a group.
  private func isCredential(_ file: TrustedPath) throws(FileError) -> Bool {
    guard let folder = try environment.absolutePath("CREDENTIALS_DIRECTORY") else { return false }
    return try file.path.hasPrefix(TrustedPath(resolving: folder).path + "/")
  }
}

/// How this program reads references to passwords.
final class PasswordReferences: Sendable {
  static let shared = PasswordReferences()

  typealias Reader = @Sendable (String) throws -> [UInt8]

  private let reader = PosixMutex<Reader?>(nil)

  func read(with reader: @escaping Reader) { self.reader.withLock { $0 = reader } }

  /// - Throws: `EtcdError` with `passwordUnavailable`.
  func password(at reference: String) throws(EtcdError) -> [UInt8] {
    guard let reader = reader.withLock({ $0 }) else {
      throw EtcdError(
        .passwordUnavailable,
        "this program does not read the password at \(reference); run 'prefs sync run', which does, "
          + "or call SharedPreferences.readReferences")
    }
    do {
      return try reader(reference)
    } catch {
      // Its text could contain the password.
      throw EtcdError(
        .passwordUnavailable,
        "the password at \(reference) cannot be read: "
          + PreferencesError.converting(error, "the reference cannot be resolved").message)
    }
  }
}

internal import ArgumentParser
internal import FoundationEssentials
internal import PreferencesDurable
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The options that say how a cluster is reached.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: .init("The certificates of authorities (default: the system's)", valueName: "file"),
    completion: .file())
  var cacert: String?

  @Option(
    help: .init("This machine's certificate, which has no common name", valueName: "file"),
    completion: .file())
  var cert: String?

  @Option(
    name: .customLong("key"),
    help: .init("The key of the certificate", valueName: "file"), completion: .file())
  var certificateKey: String?

  @Option(help: .init("The name of the user of etcd", valueName: "name"))
  var user: String?

  @Option(
    help: .init("A file with the password of the user", valueName: "file"), completion: .file())
  var passwordFile: String?

  @Option(
    help: .init(
      "A reference to the password, such as keychain://etcd/fleet", valueName: "reference"))
  var passwordRef: String?

  @Option(
    help: .init("An HTTP proxy; those of the environment are not used", valueName: "address"))
  var proxy: String?

  func validate() throws {
    guard passwordFile == nil || passwordRef == nil else {
      throw ValidationError(SyncUsageText.onePassword)
    }
    guard (cert == nil) == (certificateKey == nil) else {
      throw ValidationError(SyncUsageText.certificateAndKey)
    }
    // Of the keychain, or of a server by it.
    if let passwordRef, !["keychain://", "keychain+"].contains(where: passwordRef.hasPrefix) {
      throw ValidationError(SyncUsageText.reference)
    }
  }

  /// Whether one is given.
  var isGiven: Bool {
    [cacert, cert, certificateKey, user, passwordFile, passwordRef, proxy].contains { $0 != nil }
  }

  /// Returns the configuration for an address, with what the variables say if it names no endpoint.
  ///
  /// Paths become absolute, because other programs read them in other folders.
  ///
  /// - Parameter address: The address.
  /// - Returns: The configuration, whose address has endpoints.
  /// - Throws: `PreferencesError` or `CommandLineError` if the settings don't fit each other, or
  ///   name a file that cannot be read.
  func configuration(for address: String) throws -> SharingConfiguration {
    var configuration = SharingConfiguration(address: address)
    configuration.certificateAuthority = try cacert.map(fromRoot)
    configuration.certificate = try cert.map(fromRoot)
    configuration.key = try certificateKey.map(fromRoot)
    configuration.user = user
    configuration.passwordFile = try passwordFile.map(fromRoot)
    configuration.passwordReference = passwordRef
    configuration.proxy = proxy
    let completed = try configuration.completed()
    let hasPassword = passwordFile != nil || passwordRef != nil
    guard completed.user != nil || !hasPassword else {
      throw CommandLineError(
        ExitCodes.usage, SyncUsageText.passwordNeedsUser,
        hint: configuration.address == completed.address
          ? SyncUsageText.addUser : SyncUsageText.addUserOrVariable)
    }
    guard completed.user == nil || hasPassword else {
      throw CommandLineError(
        ExitCodes.usage, "there is a user, '\(completed.user ?? "")', but no password",
        hint: SyncUsageText.addPassword)
    }
    for path in [completed.certificateAuthority, completed.certificate, completed.key] {
      if let path, !FileManager.default.isReadableFile(atPath: path) {
        throw CommandLineError(
          ExitCodes.usage, "the file '\(path)' cannot be read",
          hint:
            "name another one with --cacert, --cert or --key, or in the variable ETCDCTL_CACERT, "
            + "ETCDCTL_CERT or ETCDCTL_KEY")
      }
    }
    return completed
  }

  private func fromRoot(_ path: String) throws -> String {
    do { return try TrustedPath.fromRoot(path) } catch { throw PreferencesError(error) }
  }
}

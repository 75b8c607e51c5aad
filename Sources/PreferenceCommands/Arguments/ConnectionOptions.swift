internal import ArgumentParser
internal import PrephirencesShared

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

  @Option(help: .init("The key of the certificate", valueName: "file"), completion: .file())
  var key: String?

  @Option(help: .init("The name of the user", valueName: "name"))
  var user: String?

  @Option(help: .init("A file with the password", valueName: "file"), completion: .file())
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
    guard (cert == nil) == (key == nil) else {
      throw ValidationError(SyncUsageText.certificateAndKey)
    }
  }

  /// Puts the options into a configuration.
  ///
  /// Paths become absolute, because other programs read them in other folders.
  func complete(_ configuration: inout SharingConfiguration) {
    configuration.certificateAuthority = cacert.map(absolutePath)
    configuration.certificate = cert.map(absolutePath)
    configuration.key = key.map(absolutePath)
    configuration.user = user
    configuration.passwordFile = passwordFile.map(absolutePath)
    configuration.passwordReference = passwordRef
    configuration.proxy = proxy
  }
}

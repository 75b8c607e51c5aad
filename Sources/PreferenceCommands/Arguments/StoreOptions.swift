internal import ArgumentParser
internal import PrephirencesCommandLine

/// The options that name a shared store.
struct StoreOptions: QuickArguments {
  @Option(
    help: .init(
      "A shared store instead of this machine's preferences: etcd+https://host:2379/prefix",
      valueName: "address"))
  var store: String?

  @Option(
    help: .init("A file with the password of the shared store", valueName: "file"),
    completion: .file())
  var passwordFile: String?

  @Option(
    help: .init(
      "A reference to that password, such as keychain://etcd/fleet", valueName: "reference"))
  var passwordRef: String?

  mutating func read(_ line: inout QuickLine) throws {
    store = try line.option("store")
    passwordFile = try line.option("password-file")
    passwordRef = try line.option("password-ref")
  }

  func validate() throws {
    guard passwordFile == nil || passwordRef == nil else {
      throw ValidationError(SyncUsageText.onePassword)
    }
    guard store != nil || passwordFile == nil && passwordRef == nil else {
      throw ValidationError(SyncUsageText.passwordNeedsStore)
    }
  }
}

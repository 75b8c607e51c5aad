import CommandTesting
import Foundation
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

/// A home folder of a test, with the commands over the built-in stores in it.
///
/// Vaults with a passphrase are made by `vault`, whose passphrases cost little.
struct VaultHome {
  let vault: TestVault
  var program: TestedProgram

  init() throws {
    vault = try TestVault()
    let folder = vault.folder.path
    program = TestedProgram(
      store: nil,
      environment: vault.environment.merging([
        "HOME": folder, "XDG_CONFIG_HOME": folder + "/config", "XDG_RUNTIME_DIR": folder + "/run",
      ]) { $1 })
  }

  /// Creates the vault with a passphrase, and the device's slot.
  func createWithPassphrase() throws {
    try vault.handle().create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
  }

  /// Writes a file with a passphrase; returns the options for it.
  func passphrase(_ passphrase: String = TestVault.passphrase) throws -> [String] {
    ["--passphrase-file", try vault.file("passphrase-\(passphrase)", passphrase + "\n")]
  }

  /// Runs a command, also with more variables; without a value, a variable is removed.
  @discardableResult
  func run(
    _ words: [String], input: String = "", environment: [String: String?] = [:]
  ) -> CommandRun {
    var program = program
    for (name, value) in environment { program.environment[name] = value }
    return program.run(words, input: Array(input.utf8))
  }

  @discardableResult
  func run(_ words: String..., input: String = "") -> CommandRun { run(words, input: input) }

  /// Stores a secret.
  @discardableResult
  func set(_ account: String, _ secret: String = "x", _ options: [String] = []) -> CommandRun {
    run(["set", account] + options, input: secret)
  }

  /// Returns what `get` prints of a secret.
  func get(_ account: String, _ options: [String] = []) -> String {
    run(["get", account] + options).output
  }

  /// Returns a member of the JSON that a command prints.
  func json(_ words: [String], _ name: String, environment: [String: String?] = [:]) throws
    -> NSObject?
  {
    let printed = Data(run(words + ["--json"], environment: environment).bytes)
    let members = try #require(JSONSerialization.jsonObject(with: printed) as? NSDictionary)
    return members[name] as? NSObject
  }

  /// The slots of the vault, each with its kind and what it opens.
  func slots() throws -> [String] {
    let printed = Data(run("slots", "list", "--json").bytes)
    let slots = try #require(JSONSerialization.jsonObject(with: printed) as? [[String: Any]])
    return slots.map { "\($0["kind"] ?? "") \($0["grant"] ?? "")" }
  }

  /// What `doctor` prints, as one line however it is wrapped.
  func diagnosis(_ options: [String] = [], environment: [String: String?] = [:]) -> String {
    run(["doctor"] + options, environment: environment).output
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  func path(_ name: String) -> String { vault.folder.path + "/" + name }

  func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  func contents(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

  func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  func move(_ path: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: path, toPath: other)
  }
}

extension CommandRun {
  /// Returns whether the command failed with a code, a text in its message, and one in its hint.
  func refused(_ code: Int32, _ text: String = "", hint: String = "") -> Bool {
    let lines = messages.split(separator: "\n")
    let hints = lines.filter { $0.hasPrefix("prefs: hint: ") }
    return self.code == code && lines.contains { $0.hasPrefix("prefs: error: ") }
      && (text.isEmpty || messages.contains(text))
      && (hint.isEmpty || hints.contains { $0.contains(hint) })
  }
}

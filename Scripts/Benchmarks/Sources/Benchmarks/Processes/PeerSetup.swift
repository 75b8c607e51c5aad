import CPeer
import Foundation

/// The other programs that keep secrets, each with one secret in a folder of its own.
///
/// `Scripts/bench` installs them. What is missing is named in the results.
struct PeerSetup {
  /// A program is not installed.
  struct Missing: Error {
    let name: String
  }

  let folder: String

  /// A Python program that reads and writes an encrypted file of keyrings.cryptfile; `nil` if missing.
  let cryptfile: [String]?

  static let secret = "secret number 7, as long as a token"

  /// The secret, and the same after a passphrase, as files for standard input.
  private var secretFile: String { folder + "/secret" }
  private var passphraseFile: String { folder + "/passphrase" }
  private var bothFile: String { folder + "/passphrase-and-secret" }

  /// Makes all that is installed; a failure of one is reported as its absence.
  func make() throws -> (contestants: [Contestant], missing: [String]) {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try save(Self.secret, secretFile)
    try save("a passphrase\n", passphraseFile)
    try save("a passphrase\n\(Self.secret)\n", bothFile)
    var contestants: [Contestant] = []
    var missing: [String] = []
    let makers = [
      ("secret-tool", secretTool), ("pass", pass), ("age", age), ("keepassxc-cli", keepassxc),
      ("keyrings.cryptfile", cryptfileKeyring),
    ]
    for (name, make) in makers {
      do {
        let made = try make()
        try made.write.run()
        guard try made.read.output().contains(Self.secret) else { throw BenchmarkVaults.Failure() }
        contestants.append(made)
      } catch let error as Missing {
        missing.append("Not measured: \(error.name), which is not installed.")
      } catch {
        missing.append("Not measured: \(name), which failed (\(error)).")
      }
    }
    return (contestants, missing)
  }

  private func save(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private func require(_ name: String) throws {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    guard folders.contains(where: { access("\($0)/\(name)", X_OK) == 0 }) else {
      throw Missing(name: name)
    }
  }
}

extension PeerSetup {
  static let keyring = "secret-tool on gnome-keyring"

  private func secretTool() throws -> Contestant {
    try require("secret-tool")
    return Contestant(
      label: Self.keyring,
      read: ChildProcess("secret-tool", "lookup", "service", "peer", "account", "account-7"),
      write: ChildProcess(
        "secret-tool", "store", "--label=peer", "service", "peer", "account", "account-7"
      ).reading(secretFile))
  }

  /// Uses the key in `GNUPGHOME`, which has no passphrase; the agent ends with the script.
  private func pass() throws -> Contestant {
    try require("pass")
    try require("gpg")
    try ChildProcess(
      "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "bench", "default",
      "default", "never"
    ).run()
    try ChildProcess("pass", "init", "bench").run()
    return Contestant(
      label: "pass", note: "by a gpg key without a passphrase, whose agent runs already",
      read: ChildProcess("pass", "show", "peer/account-7"),
      write: ChildProcess("pass", "insert", "-m", "-f", "peer/account-7").reading(secretFile))
  }

  private func age() throws -> Contestant {
    try require("age")
    let (identity, recipient) = (folder + "/identity", folder + "/recipient")
    try ChildProcess("age-keygen", "-o", identity).run()
    try save(try ChildProcess("age-keygen", "-y", identity).output(), recipient)
    let file = folder + "/secret.age"
    return Contestant(
      label: "age", note: "one file and its key, both without a name; nothing is made durable",
      read: ChildProcess("age", "--decrypt", "-i", identity, file),
      write: ChildProcess("age", "--encrypt", "-R", recipient, "-o", file).reading(secretFile))
  }

  private func keepassxc() throws -> Contestant {
    try require("keepassxc-cli")
    let file = folder + "/secrets.kdbx"
    let twice = folder + "/passphrase-twice"
    try save("a passphrase\na passphrase\n", twice)
    try ChildProcess("keepassxc-cli", "db-create", "-q", "--set-password", file).reading(twice)
      .run()
    try ChildProcess("keepassxc-cli", "add", "-q", "-p", file, "account-7").reading(bothFile).run()
    return Contestant(
      label: "keepassxc-cli", note: "hashes its passphrase by its default: 1,000,000 rounds of AES",
      read: ChildProcess("keepassxc-cli", "show", "-q", "-s", "-a", "Password", file, "account-7")
        .reading(passphraseFile),
      write: ChildProcess("keepassxc-cli", "edit", "-q", "-p", file, "account-7").reading(bothFile),
      hashes: true)
  }

  private func cryptfileKeyring() throws -> Contestant {
    guard let cryptfile else { throw Missing(name: "keyrings.cryptfile") }
    let file = folder + "/cryptfile.cfg"
    return Contestant(
      label: "keyrings.cryptfile",
      note: "starts Python; hashes its passphrase by its default: Argon2id, 64 MiB, 15 rounds",
      read: ChildProcess(cryptfile + ["get", file]).reading(passphraseFile),
      write: ChildProcess(cryptfile + ["set", file]).reading(bothFile), hashes: true)
  }
}

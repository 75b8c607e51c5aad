// What `doctor` says: the store, its protection, the files that must not be lost, and what to do next.

import CommandTesting
import Foundation
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

@testable import KeychainCommands

@Suite("Reports of doctor")
struct DoctorCommandTests {
  private let home: VaultHome

  init() throws { home = try VaultHome() }

  @Test func vaultIsNotMadeYet() throws {
    let report = home.diagnosis()
    #expect(report.contains("not made yet") && report.contains("prefs keychain init"))
    #expect(report.contains("none recorded"))
    #expect(!home.exists(home.vault.path))
    #expect(try home.json(["doctor"], "store") == "vault" as NSString)
    let vault = try home.json(["doctor"], "vault") as? NSDictionary
    #expect(vault?["exists"] as? Bool == false)
  }

  @Test func deviceKeyAloneIsWeak() throws {
    home.set("alice", "s3cret")
    let report = home.diagnosis()
    for text in [
      "weak: a device key opens everything", home.vault.path, home.vault.deviceSecretPath,
      "without device.key: ", "everything is lost, as nothing else opens the vault",
      "slots add --passphrase",
    ] { #expect(report.contains(text)) }
    #expect(!report.contains("s3cret"))
    #expect(try home.json(["doctor"], "grade") == "weak" as NSString)
    #expect(try home.json(["doctor"], "mayAsk") == false as NSNumber)
    let vault = try home.json(["doctor"], "vault") as? NSDictionary
    #expect(vault?["items"] as? Int == 1)
  }

  @Test func netrcFilesThatOthersCanReadAreNamed() throws {
    let path = try home.vault.file(".netrc", "machine h login l password hunter2\n")
    let named = try home.vault.file("named", "")
    try home.setMode(0o644, of: path)
    try home.setMode(0o640, of: named)
    let report = home.diagnosis(environment: ["NETRC": named])
    for text in [
      "other users can read \(path)", "other users can read \(named)",
      "prefs keychain import --format netrc \(path) --remove",
    ] { #expect(report.contains(text)) }
    #expect(!report.contains("hunter2"))
    let found = try home.json(["doctor"], "openNetrcFiles", environment: ["NETRC": path])
    #expect((found as? [String])?.filter { $0 == path }.count == 1)
    try home.setMode(0o600, of: path)
    #expect(!home.diagnosis().contains(path))
  }

  @Test func deviceKeyIsGone() throws {
    home.set("alice", "s3cret")
    let (key, away) = (home.vault.deviceSecretPath, home.path("away"))
    try home.move(key, to: away)
    let locked = home.run("doctor")
    #expect(locked.refused(77, "nothing that is here opens", hint: key))
    let report = locked.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for text in ["device (its device.key is missing)", "next: ", "bring back"] {
      #expect(report.contains(text))
    }
    #expect(!report.contains("slots add") && !report.contains("keychain unlock'"))
    let next = try home.json(["doctor"], "next") as? [String]
    #expect(next?.count == 1 && locked.messages.hasSuffix("hint: \(next?.first ?? "")\n"))
    #expect(home.run("slots", "list").output.contains("its device.key is missing"))
    try home.move(away, to: key)
    #expect(home.run("unlock").code == 0)
    try home.move(key, to: away)
    let cached = home.diagnosis()
    #expect(cached.contains("only the kernel's cache opens this vault now"))
    #expect(cached.contains("keychain get'") && !cached.contains("slots add"))
  }

  @Test func lossesAreNamedForEachSecret() throws {
    try home.createWithPassphrase()
    let report = home.diagnosis()
    for text in [
      "without the passphrase: ", "everything is lost except what needs no unlock",
      "slots add --new-key-file",
    ] { #expect(report.contains(text)) }
    #expect(!report.contains("without the key file"))
    let two = try VaultHome()
    let key = two.path("key")
    #expect(two.run("init", "--new-key-file", key, "--no-device").code == 0)
    try two.vault.handle { $0.unlock = .keyFile(key, named: "the test") }
      .addPassphraseSlot(SecretBytes(copying: "two"))
    let other = two.diagnosis()
    #expect(other.contains("without the key file: ") && other.contains("opens everything too"))
    #expect(!other.contains("second way"))
  }

  @Test(
    arguments: [
      ([], [:], "as there is no session bus"), (["--store", "vault"], [:], "chosen by an option"),
      ([], ["KEYCHAIN_STORE": "vault"], "KEYCHAIN_STORE"),
      ([], ["KEYCHAIN_VAULT": "/none/vault"], "as a vault is named"),
    ] as [([String], [String: String], String)])
  func reasonForTheStore(options: [String], environment: [String: String], reason: String) {
    #expect(home.diagnosis(options, environment: environment).contains(reason))
  }

  @Test func sourcesThatWouldUnlockAreNamed() throws {
    try home.createWithPassphrase()
    let environment = ["KEYCHAIN_PASSPHRASE_FILE": try home.passphrase()[1]]
    home.run(["set", "alice"], input: "x", environment: environment)
    home.run("lock", "--all")
    #expect(home.diagnosis(environment: environment).contains("KEYCHAIN_PASSPHRASE_FILE"))
    let sources = try home.json(["status"], "unlockSources", environment: environment)
    #expect(sources as? [String] == ["KEYCHAIN_PASSPHRASE_FILE"])
    // Looking has unlocked nothing.
    #expect(home.run("get", "alice").refused(77))
  }

  @Test func damageIsAProblem() throws {
    home.set("alice")
    try Data(String(repeating: "not a vault at all ", count: 400).utf8)
      .write(to: URL(filePath: home.vault.path))
    let refused = home.run("doctor")
    #expect(refused.refused(65, hint: " ") && refused.output.contains("problem"))
    #expect(try home.json(["doctor"], "problem") is NSString)
  }

  @Test func keyFileOfWordsIsFair() throws {
    let words = try home.vault.file("words", "correct horse battery staple correct\n")
    home.run("init", "--with-key-file", words)
    for (options, environment, source) in [
      (["--key-file", words], [:], "--key-file"),
      ([], ["KEYCHAIN_KEY_FILE": words], "KEYCHAIN_KEY_FILE"),
    ] as [([String], [String: String], String)] {
      let report = home.diagnosis(options, environment: environment)
      for text in ["\(source) holds a few readable words", "fair", "slots add --new-key-file FILE"]
      {
        #expect(report.contains(text))
      }
      #expect(!report.contains("correct"))
      let weak = try home.json(["doctor"] + options, "weakKeyFiles", environment: environment)
      #expect(weak as? [String] == [source])
      let grade = try home.json(["doctor"] + options, "grade", environment: environment)
      #expect(grade == "fair" as NSString)
    }
    #expect(try home.json(["doctor"], "weakKeyFiles") as? [String] == [])
  }

  /// As after a restore: what services chose is recorded on the other machine.
  @Test func vaultWithoutRecordsDoesNotLookEmpty() throws {
    home.set("alice")
    let copied = try VaultHome()
    let path = try copied.vault.file("vault", "")
    try #require(home.contents(home.vault.path)).write(to: URL(filePath: path))
    let unknown = copied.diagnosis(["--vault", path])
    #expect(unknown.contains("items: not known while no key of the vault is here"))
    let key = URL(filePath: copied.vault.deviceSecretPath)
    try FileManager.default.createDirectory(
      at: key.deletingLastPathComponent(), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: home.vault.deviceSecretPath, toPath: key.path)
    #expect(
      copied.diagnosis(["--vault", path]).contains(
        "services: 1 item in the vault, no choice recorded"))
  }
}

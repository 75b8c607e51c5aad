// What opens a vault: what `init` and `slots` make of it, and what they refuse.

import CommandTesting
import Foundation
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

@testable import KeychainCommands

@Suite("Commands for what opens a vault")
struct SlotCommandTests {
  private let home: VaultHome

  init() throws { home = try VaultHome() }

  // MARK: init

  @Test func vaultOfTheDeviceAlone() throws {
    let made = home.run("init")
    #expect(made.code == 0 && made.bytes.isEmpty && made.messages.contains("created the vault"))
    #expect(try home.slots() == ["device administers"])
  }

  @Test func keyFileIsMade() throws {
    let key = home.path("key")
    #expect(home.run("init", "--new-key-file", key).code == 0)
    #expect(try home.slots() == ["device openTier", "keyFile administers"])
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(home.set("alice", "x", ["--key-file", key]).code == 0)
    let got = home.run(["get", "alice"], environment: ["KEYCHAIN_KEY_FILE": key])
    #expect(got.code == 0 && got.output == "x")
    // A key file is no passcode.
    let passcode = ["--accessibility", "whenPasscodeSetThisDeviceOnly", "--key-file", key]
    #expect(home.set("bob", "x", passcode).refused(79))
    let other = try VaultHome()
    #expect(other.run("init", "--with-key-file", key, "--no-device").code == 0)
    #expect(try other.slots() == ["keyFile administers"])
    #expect(other.set("alice", "y", ["--key-file", key]).code == 0)
  }

  @Test func shortKeyFileIsRefused() throws {
    let refused = home.run("init", "--with-key-file", try home.vault.file("short", "short"))
    #expect(refused.refused(79, "5 bytes") && refused.messages.contains("at least 32"))
    #expect(!home.exists(home.vault.path))
  }

  @Test(
    arguments: [
      ["--no-device"], ["--new-key-file", "/missing/a", "--with-key-file", "b"],
      ["--passphrase-file", "x"], ["--new-passphrase-fd", "3", "--new-passphrase-file", "x"],
      // Nobody can be asked.
      ["--passphrase"],
    ])
  func optionsMakeNoSense(_ options: [String]) {
    #expect(home.run(["init"] + options).refused(64))
    #expect(!home.exists(home.vault.path))
  }

  @Test func passphraseThatProtectsNothingIsRefused() throws {
    let empty = try home.vault.file("empty", "\n")
    #expect(home.run("init", "--new-passphrase-file", empty).refused(79, "protects nothing"))
    let shared = try home.vault.file("shared", "passphrase")
    try home.setMode(0o644, of: shared)
    #expect(
      home.run("init", "--new-passphrase-file", shared).refused(79, hint: "chmod 600 \(shared)"))
    #expect(!home.exists(home.vault.path))
  }

  @Test func failureLeavesNoKeyFile() throws {
    home.set("alice")
    let key = home.path("key")
    #expect(
      home.run("init", "--new-key-file", key).refused(75, "there is a vault", hint: "slots add"))
    #expect(!home.exists(key))
    let there = try home.vault.file("there", "mine")
    #expect(
      home.run("slots", "add", "--new-key-file", there)
        .refused(75, "there exists already", hint: "--with-key-file"))
    #expect(home.contents(there) == Data("mine".utf8))
  }

  @Test func keyFileOfFewWordsIsReported() throws {
    let words = try home.vault.file("words", "correct horse battery staple correct\n")
    let (other, first) = (try VaultHome(), try VaultHome())
    other.set("alice")
    let made = [
      home.run("init", "--with-key-file", words),
      other.run("slots", "add", "--with-key-file", words),
      first.run(["set", "alice"], input: "x", environment: ["KEYCHAIN_KEY_FILE": words]),
    ]
    for run in made {
      #expect(run.code == 0 && run.messages.contains("holds a few readable words"))
      #expect(!run.messages.contains("correct") && run.bytes.isEmpty)
    }
    #expect(made[0].messages.contains("the key file \(words) holds"))
    // It is said once, where the key file gets its slot.
    #expect(!home.run("list", "--key-file", words).messages.contains("readable"))
  }

  @Test func randomKeyFileIsNotReported() throws {
    let key = Data(7..<39)
    let digits = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    for contents in [key, Data(digits.utf8), key.base64EncodedData() + Data("\n".utf8)] {
      let home = try VaultHome()
      let path = try home.vault.file("key", "")
      try contents.write(to: URL(filePath: path))
      let made = home.run("init", "--with-key-file", path)
      #expect(made.code == 0 && !made.messages.contains("readable"))
    }
  }

  // MARK: slots

  @Test func changeNeedsWhatOpensEverything() throws {
    try home.createWithPassphrase()
    let passphrase = try home.passphrase()
    #expect(home.run(["unlock"] + passphrase).code == 0)
    let key = home.path("key")
    let another = try home.vault.file("another", "another one")
    for words in [
      ["slots", "add", "--new-key-file", key], ["slots", "remove", "2", "--yes"],
      ["rekey", "--yes"],
      ["recovery", "create", "--code-file", home.path("code")],
      ["change-passphrase", "--new-passphrase-file", another],
    ] {
      let refused = home.run(words)
      #expect(
        refused.refused(
          77, "is unlocked, but this needs a secret that opens it",
          hint: "give the passphrase, with --passphrase-file FILE"))
      #expect(!refused.messages.contains("keychain unlock") && refused.bytes.isEmpty)
    }
    #expect(!home.exists(key))
    home.run("lock", "--all")
    let add = ["slots", "add", "--new-key-file", key]
    #expect(home.run(add).refused(77, "is locked", hint: "--passphrase-file FILE"))
    #expect(home.run(add + (try home.passphrase("wrong"))).refused(78))
    #expect(home.run(add + passphrase).code == 0)
    #expect(home.run("get", "nobody", "--key-file", key).refused(44))
  }

  @Test func lastSlotIsNotRemoved() {
    home.set("alice")
    #expect(home.run("slots", "remove", "1", "--yes").refused(79))
    #expect(home.run("slots", "remove", "99").refused(44, "99"))
    #expect(home.get("alice") == "x")
  }

  @Test func removalNeedsAYes() throws {
    try home.createWithPassphrase()
    let remove = ["slots", "remove", "1"] + (try home.passphrase())
    #expect(home.run(remove).refused(64, hint: "--yes"))
    #expect(try home.slots() == ["device openTier", "passphrase administers"])
  }

  @Test func deviceOpensEverythingAfterTheLastPassphrase() throws {
    try home.createWithPassphrase()
    let unlock = try home.passphrase()
    home.set("alice", "x", unlock)
    let removed = home.run(["slots", "remove", "2", "--yes"] + unlock)
    #expect(removed.code == 0 && removed.bytes.isEmpty)
    #expect(removed.messages.contains("removed slot 2: passphrase"))
    #expect(try home.slots() == ["device administers"])
    #expect(home.get("alice") == "x" && home.run("verify").code == 0)
  }

  @Test func lossesAreListedBeforeTheLastPassphraseGoes() throws {
    try home.createWithPassphrase()
    let unlock = try home.passphrase()
    try home.vault.handle(passphrase: TestVault.passphrase)
      .addPassphraseSlot(SecretBytes(copying: "two"))
    let first = home.run(["slots", "remove", "3", "--yes"] + unlock)
    #expect(first.code == 0 && !first.messages.contains("device key alone"))
    #expect(
      home.run(["slots", "remove", "2"] + unlock).refused(64, "device key alone opens everything"))
    #expect(try home.slots().count == 2)
  }

  @Test func itemsThatNeedAPasscodeKeepTheLastPassphrase() throws {
    try home.createWithPassphrase()
    let unlock = try home.passphrase()
    home.set("alice", "x", ["--accessibility", "whenPasscodeSetThisDeviceOnly"] + unlock)
    home.set("bob", "y", unlock)
    let remove = ["slots", "remove", "2"] + unlock
    #expect(home.run(remove + ["--yes"]).refused(79, "--delete-items"))
    #expect(home.run(remove + ["--delete-items"]).refused(64, "'alice'", hint: "--yes"))
    #expect(home.get("alice", unlock) == "x")
    let removed = home.run(remove + ["--delete-items", "--yes"])
    #expect(removed.code == 0 && removed.messages.contains("'alice'"))
    #expect(!removed.messages.contains("'bob'") && removed.messages.contains("deleted 1 item"))
    #expect(home.run("get", "alice").refused(44))
    #expect(home.get("bob") == "y")
  }

  @Test func slotOfTheDeviceGoesAndComes() throws {
    try home.createWithPassphrase()
    let unlock = try home.passphrase()
    #expect(home.run(["slots", "remove", "1", "--yes"] + unlock).code == 0)
    #expect(try home.slots() == ["passphrase administers"])
    #expect(home.run(["slots", "add", "--device"] + unlock).code == 0)
    #expect(try home.slots().sorted() == ["device openTier", "passphrase administers"])
    #expect(home.run(["slots", "add", "--device"] + unlock).refused(75))
    #expect(home.run("slots", "add").refused(64))
    #expect(home.run("slots", "add", "--device", "--passphrase").refused(64))
  }

  @Test func stateIsAlwaysReported() throws {
    #expect(try home.json(["status"], "state") == "absent" as NSString)
    try home.createWithPassphrase()
    #expect(try home.json(["status"], "state") == "locked" as NSString)
    home.run(["unlock"] + (try home.passphrase()))
    #expect(try home.json(["status"], "state") == "unlocked" as NSString)
  }
}

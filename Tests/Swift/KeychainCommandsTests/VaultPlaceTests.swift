// Where the vault is: below the home folder, where variables and options lead, and when it is gone.

import CommandTesting
import Foundation
import KeychainVaultTesting
import Testing

@testable import KeychainCommands

@Suite("Places of the vault")
struct VaultPlaceTests {
  private let home: VaultHome
  private static let none: [String: String?] = [
    "XDG_DATA_HOME": nil, "XDG_STATE_HOME": nil, "XDG_CONFIG_HOME": nil, "XDG_RUNTIME_DIR": nil,
  ]

  init() throws { home = try VaultHome() }

  @Test func belowHomeWithoutMore() {
    let stored = home.run(["set", "alice"], input: "x", environment: Self.none)
    #expect(stored.code == 0)
    #expect(home.exists(home.path(".local/share/keychain/vault")))
    #expect(home.exists(home.path(".local/state/keychain/device.key")))
    #expect(home.run(["lock", "--all"], environment: Self.none).code == 0)
  }

  @Test func emptyAndRelativeVariablesDoNotCount() throws {
    let path = try home.json(
      ["status"], "path", environment: ["XDG_DATA_HOME": "relative", "XDG_STATE_HOME": ""])
    #expect(path == home.path(".local/share/keychain/vault") as NSString)
  }

  @Test func variableNamesTheVault() {
    let path = home.path("own.db")
    let stored = home.run(["set", "alice"], input: "x", environment: ["KEYCHAIN_VAULT": path])
    #expect(stored.code == 0)
    #expect(home.get("alice", ["--vault", path]) == "x")
    #expect(home.run("get", "alice").refused(44))
    #expect(home.run("lock", "--all", "--vault", path).code == 0)
  }

  @Test(arguments: [("secret-service", 69), ("paper", 64), ("vault", 44)] as [(String, Int32)])
  func storeIsChosen(name: String, code: Int32) {
    #expect(home.run("get", "alice", "--store", name).refused(code))
    #expect(home.run(["get", "alice"], environment: ["KEYCHAIN_STORE": name]).refused(code))
  }

  @Test func volumeIsNotMounted() throws {
    home.set("alice")
    let (volume, away) = (home.path("data"), home.path("unmounted"))
    try home.move(volume, to: away)
    try FileManager.default.createDirectory(
      atPath: volume, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    for words in [
      ["get", "alice"], ["list"], ["set", "alice", "--allow-empty"], ["delete", "alice"],
      ["verify"],
      ["init"], ["doctor"],
    ] { #expect(home.run(words).refused(69, "before", hint: "mount its volume")) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: volume).isEmpty)
    #expect(try home.json(["status"], "wasSeen") == true as NSNumber)
    try FileManager.default.removeItem(atPath: volume)
    try home.move(away, to: volume)
    #expect(home.get("alice") == "x")
  }

  @Test func truncatedVaultIsNotAnEmptyVault() throws {
    home.set("alice")
    try Data().write(to: URL(filePath: home.vault.path))
    #expect(home.set("alice", "y").refused(69))
    #expect(home.contents(home.vault.path) == Data())
  }

  @Test func unfinishedFileIsNotAVault() throws {
    home.set("alice")
    let copy = home.path("copy.db")
    #expect(home.run("backup", copy).code == 0)
    try FileManager.default.removeItem(atPath: home.vault.seenFolder)
    let restored = try #require(FileHandle(forWritingAtPath: home.vault.path))
    try restored.truncate(atOffset: 0)
    for words in [["set", "bob", "--allow-empty"], ["init"], ["init", "--start-anew"]] {
      #expect(home.run(words).refused(79, "an empty file is in the place", hint: "remove it"))
    }
    try restored.write(contentsOf: try #require(home.contents(copy)))
    try restored.close()
    #expect(home.get("alice") == "x")
  }

  @Test func vaultIsStartedAgain() throws {
    home.set("alice")
    try FileManager.default.removeItem(atPath: home.vault.path)
    #expect(home.run("init", "--start-anew").code == 0)
    #expect(home.run("get", "alice").refused(44))
    #expect(home.set("alice", "y").code == 0)
    #expect(home.run("verify").code == 0)
  }
}

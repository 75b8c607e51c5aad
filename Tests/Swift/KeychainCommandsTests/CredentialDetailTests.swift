// What is known about a secret: its details, its version and its expiry.
import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands

@Suite("What is known about a secret")
struct CredentialDetailTests {
  private let program = TestedProgram()

  private func version(_ account: String) throws -> Int {
    let text = try program.shown(account)["version"] as? String
    return try #require(text.flatMap { Int($0) })
  }

  @Test func storingAgainKeepsTheDetails() throws {
    let given =
      "set alice --label L --comment C --attribute env=test --accessibility always --expires 90d"
    #expect(program.line(given + " --content-type text/plain", input: "1").isSilent)
    let before = try program.shown("alice")
    program.set("alice", "2")
    let after = try program.shown("alice")
    for name in ["label", "comment", "attributes", "accessibility", "created"] {
      #expect(
        before[name] != nil && after[name] as? NSObject == before[name] as? NSObject, "\(name)")
    }
    #expect(before["version"] as? String != after["version"] as? String)
    #expect(before["expires"] != nil && after["expires"] == nil)
    #expect(before["contentType"] != nil && after["contentType"] == nil)
  }

  @Test func updateLeavesTheSecret() throws {
    program.line("set alice --label L --attribute a=1 --attribute b=2", input: "secret")
    let updated = program.run(
      [
        "update", "alice", "--label", "", "--comment", "C", "--attribute", "b=3", "--attribute",
        "c=4=4",
        "--remove-attribute", "a", "--accessibility", "always", "--expires", "2099-01-31T00:00:00Z",
      ])
    #expect(updated.isSilent)
    let shown = try program.shown("alice")
    #expect(shown["label"] == nil && shown["comment"] as? String == "C")
    #expect(shown["attributes"] as? [String: String] == ["b": "3", "c": "4=4"])
    #expect(shown["accessibility"] as? String == "always")
    #expect(shown["expires"] as? String == "2099-01-31T00:00:00Z")
    #expect(program.get("alice") == "secret")
  }

  @Test func deletedOnesAreAbsent() {
    program.set("alice")
    #expect(program.line("delete alice").isSilent)
    #expect(program.line("get alice").failed(44))
    #expect(
      program.line("delete alice").failed(44, "there is no credential 'alice' of service 'default'")
    )
    #expect(program.line("delete alice --if-exists").isSilent)
  }

  @Test(arguments: [false, true])
  func absentOnesAreNamed(hasOthers: Bool) {
    if hasOthers { program.set("bob") }
    for command in [
      "get alice", "show alice", "delete alice", "update alice --label x", "rename alice carol",
    ] {
      #expect(
        program.line(command + " --service web").failed(44, "'alice' of service 'web'"),
        "\(command)")
    }
  }

  @Test func onlyNewOnesAreCreatedOnRequest() {
    #expect(program.set("alice", "1", "--create-only").isSilent)
    #expect(program.set("alice", "2", "--create-only").failed(75, "'alice'"))
    #expect(program.get("alice") == "1")
  }

  @Test(arguments: ["update alice --label x", "delete alice", "set alice", "rename alice bob"])
  func anotherVersionIsRefused(line: String) throws {
    program.set("alice", "1")
    let version = try version("alice")
    let refused = program.line("\(line) --expected-version \(version + 1)", input: "2")
    #expect(refused.failed(75, "'alice'") && refused.messages.contains("\(version)"))
    #expect(program.get("alice") == "1")
    #expect(program.line("\(line) --expected-version \(version)", input: "2").isSilent)
  }

  @Test func eachStoredSecretHasAVersionOfItsOwn() throws {
    program.set("alice", "1")
    let version = try version("alice")
    #expect(program.set("alice", "2", "--expected-version", "\(version)").isSilent)
    #expect(program.set("alice", "3", "--expected-version", "\(version)").failed(75))
    #expect(program.get("alice") == "2")
  }

  // MARK: - Expiry

  @Test(arguments: [[], ["--json"], ["--output", "/nowhere/of/tests/out"]])
  func expiredSecretIsNotPrinted(options: [String]) throws {
    let stored = program.set("alice", "old", "--expires", "2020-01-02T12:00:00Z")
    #expect(stored.code == 0 && stored.hints.contains("that is in the past"))
    let refused = program.run(["get", "alice"] + options)
    #expect(refused.failed(80, "'alice'") && refused.messages.contains("2020-01-02"))
    #expect(refused.hints.contains("--allow-expired"))
    #expect(program.get("alice", "--allow-expired") == "old")
    #expect(try program.shown("alice")["expired"] as? Bool == true)
    #expect(program.run("list").output.ranges(of: "2020-01-02").count == 1)
  }

  @Test func pastExpiryOfAnUpdateIsReported() {
    program.set("alice")
    #expect(program.line("update alice --expires 2020-01-02").hints.contains("that is in the past"))
    #expect(program.line("update alice --expires 1d").isSilent)
  }

  @Test(arguments: [("1m", "in 1m;"), ("30d", "")])
  func nearExpiryIsReported(expiry: String, hint: String) {
    let stored = program.set("alice", "x", "--expires", expiry)
    #expect(hint.isEmpty ? stored.isSilent : stored.hints.contains(hint))
  }

  @Test func removedExpiryIsReported() {
    program.set("alice", "1", "--expires", "2099-01-31T00:00:00Z")
    let told = program.set("alice", "2")
    #expect(
      told.messages.contains("the expiry 2099-01-31T00:00:00Z was removed with the old secret"))
    #expect(told.hints.contains("--keep-expiry") && told.hints.contains("--expires"))
    #expect(program.set("alice", "3").isSilent)
    for said in ["never", "2098-01-31T00:00:00Z"] {
      program.set("alice", "4", "--expires", "2099-01-31T00:00:00Z")
      #expect(program.set("alice", "5", "--expires", said).isSilent)
    }
    // One that has passed is of no use to a new secret.
    program.set("alice", "6", "--expires", "2020-01-02T12:00:00Z")
    let past = program.set("alice", "7")
    #expect(past.messages.contains("2020-01-02") && !past.hints.contains("--keep-expiry"))
  }

  @Test func expiryIsKeptOnRequest() throws {
    #expect(program.set("new", "1", "--keep-expiry").isSilent)
    program.line("set alice --expires 2099-01-31T00:00:00Z --content-type text/plain", input: "1")
    #expect(program.set("alice", "2", "--keep-expiry").isSilent)
    let shown = try program.shown("alice")
    #expect(shown["expires"] as? String == "2099-01-31T00:00:00Z" && shown["contentType"] == nil)
    #expect(program.get("alice") == "2")
    let refused = program.set("alice", "3", "--keep-expiry", "--expires", "1d")
    #expect(refused.failed(64, "--keep-expiry and --expires exclude each other"))
    program.set("alice", "4", "--expires", "2020-01-02")
    #expect(program.set("alice", "5", "--keep-expiry").hints.contains("has passed"))
  }

  @Test(arguments: [("90d", 90), ("12h", 0.5), ("1w", 7), ("1y", 365)])
  func expiryMayBeADuration(text: String, days: Double) throws {
    let due = Date().addingTimeInterval(days * 86_400)
    program.set("alice", "x", "--expires", text)
    let expires = try #require(program.shown("alice")["expires"] as? String)
    let date = try Date(expires, strategy: .iso8601)
    #expect(abs(date.timeIntervalSince(due)) < 60)
  }

  @Test(arguments: ["2027-02-30", "soon", "90", "-1d", "2027-13-01T00:00:00Z"])
  func invalidTimeIsRefused(text: String) throws {
    #expect(program.line("set alice --expires=\(text)", input: "x").failed(64, "2027-01-31"))
    #expect(try program.accounts().isEmpty)
  }

  // MARK: - Accessibility

  @Test(arguments: [
    "whenUnlocked", "whenUnlockedThisDeviceOnly", "afterFirstUnlock",
    "afterFirstUnlockThisDeviceOnly",
    "always", "alwaysThisDeviceOnly",
  ])
  func accessibilityIsKept(name: String) throws {
    #expect(program.set("alice", "secret", "--accessibility", name).isSilent)
    #expect(try program.shown("alice")["accessibility"] as? String == name)
    #expect(program.get("alice") == "secret")
  }

  @Test func unknownAccessibilityNamesTheKnownOnes() {
    #expect(
      program.set("alice", "x", "--accessibility", "sometimes")
        .failed(64, "whenUnlockedThisDeviceOnly"))
  }
}

import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

/// Two ways in which items of gnome-keyring are destroyed: how other programs do it, and that we do
/// not.
@Suite("What destroys items of others", .timeLimit(.minutes(10)))
struct DestructionTests {
  @Test func replacingTakesItemsThatHaveMoreAttributes() throws {
    let desktop = try Desktop(.gnomeKeyring)
    try desktop.write("Bob's", ["service", "demo", "username", "bob"])
    try desktop.write("the service's", ["service", "demo"])
    #expect(try desktop.read("service", "demo", "username", "bob") == nil)
    #expect(try desktop.itemCount() == 1)
  }

  // ThreatModel.md says so: nothing protects an item from a program that asks to replace it.
  @Test func othersReplaceWhatIsOurs() throws {
    let desktop = try Desktop(.gnomeKeyring)
    try desktop.store().put("a", "ours")
    try desktop.write("theirs", ["service", "test", "username", "a"])
    #expect(try desktop.store().text("a") == "theirs")
    #expect(try desktop.itemCount() == 1)
  }

  @Test func nothingIsEverReplaced() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try desktop.write("Bob's", ["service", "test", "username", "bob"])
    try desktop.write("Python's", ["service", "test", "username", "a", "application", "Python"])
    let monitor = try BusMonitor(desktop, "type='method_call',member='CreateItem'")
    try store.put("", "the service's")
    try store.put("a", "ours")
    try store.put("a", "ours again")
    try store.put("a", "of a group", group: "g")
    try store.rename(
      .genericPassword(service: "test", account: "a"),
      to: .genericPassword(service: "test", account: "b"))
    #expect(try desktop.read("service", "test", "username", "bob") == "Bob's")
    #expect(try desktop.read("application", "Python") == "Python's")
    #expect(try desktop.itemCount() == 5)
    // No other item contains a record, so replacing would do no harm today; still it is not
    // requested.
    let lines = try monitor.lines(desktop)
    let replace = lines.filter { $0.hasPrefix("   boolean ") }
    #expect(lines.count { $0.contains("member=CreateItem") } == 3)
    #expect(replace == Array(repeating: "   boolean false", count: 3))
  }

  @Test func aLineBreakTakesAKeyringWithoutPassword() throws {
    let desktop = try Desktop(.gnomeKeyringWithoutPassword)
    try desktop.store().put("a", "one line")
    try desktop.store().put("b", "two\nlines")
    let again = try desktop.restartProvider()
    defer { again.end() }
    #expect(try desktop.store().text("a") == "one line")
    #expect(try desktop.store().text("b") == "two\nlines")
    let other = try Desktop(.gnomeKeyringWithoutPassword)
    try other.store().put("a", "one line")
    try other.write("two\nlines", ["service", "theirs"])
    let empty = try other.restartProvider()
    defer { empty.end() }
    #expect(try other.read("service", "theirs") == nil)
    #expect(try other.read("service", "test") == nil)
  }
}

extension Desktop {
  /// Kills the provider of keyrings without a password, and restarts it.
  fileprivate func restartProvider() throws -> Child {
    kill(providerProcess, SIGKILL)
    waitForEndOfProvider()
    return try startGnomeKeyring(password: nil)
  }
}

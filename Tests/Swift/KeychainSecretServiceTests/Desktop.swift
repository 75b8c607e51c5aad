import Foundation
import KeychainCredentials
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainSecretService

/// A private desktop with a Secret Service provider, which ends with this object.
final class Desktop: Sendable {
  enum Provider: String {
    case gnomeKeyring = "gnome-keyring"
    case gnomeKeyringWithoutPassword = "gnome-keyring-without-password"
    case keePassXC = "keepassxc"
    case none
  }

  let environment: [String: String]
  private let script: Child

  init(_ provider: Provider, _ variables: [String: String] = [:]) throws {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    // The script ends everything after the command, which reads until this process closes the pipe.
    let command = ["sh", "-c", "env -0; printf 'READY=\\0'; cat >/dev/null"]
    script = try Child(
      [root.appending(path: "Scripts/lib/desktop").path, provider.rawValue] + command,
      ProcessInfo.processInfo.environment.merging(variables) { $1 })
    let received = script.read(until: "READY=\0")
    var environment: [String: String] = [:]
    for pair in received.split(separator: 0) {
      let parts = String(decoding: pair, as: UTF8.self).split(separator: "=", maxSplits: 1)
      environment[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    self.environment = environment
    try #require(environment["READY"] != nil, "the desktop did not start")
  }

  deinit {
    script.finishInput()
    script.wait()
  }

  /// The deadline of calls in tests that are not about time: a machine may stall for seconds.
  static let timeout: Duration = .seconds(60)

  /// Returns a handle like that of a program on this desktop, with a long deadline.
  func store(
    _ change: (inout SecretServiceStore.Configuration) -> Void = { _ in }
  ) -> SecretServiceStore {
    var configuration = SecretServiceStore.Configuration(deadline: Self.timeout)
    configuration.environment = environment
    change(&configuration)
    return SecretServiceStore(configuration: configuration)
  }

  var providerProcess: Int32 { environment["DESKTOP_PROVIDER_PID"].flatMap { Int32($0) } ?? 0 }
  var busProcess: Int32 { environment["DESKTOP_BUS_PID"].flatMap { Int32($0) } ?? 0 }

  @discardableResult
  func run(_ program: String, _ arguments: String...) throws -> (status: Int32, output: Data) {
    try run(program, arguments)
  }

  /// Runs a program on this desktop, and returns its output.
  @discardableResult
  func run(
    _ program: String, _ arguments: [String], input text: String = ""
  ) throws -> (status: Int32, output: Data) {
    let child = try Child([program] + arguments, environment)
    child.finishInput(text)
    let output = child.read()
    return (child.wait(), output)
  }
}

extension CredentialStore {
  func removeEverything() throws {
    for credential in try search(CredentialQuery()).credentials {
      try remove(credential.identity, expectedVersion: nil, includingOtherPrograms: true)
    }
  }

  @discardableResult
  func put(_ account: String, _ text: String, group: String = "") throws -> Credential {
    try set(
      Credential(.genericPassword(service: "test", account: account, accessGroup: group)),
      secret: SecretBytes(copying: text))
  }

  func text(_ account: String, service: String = "test", group: String = "") throws -> String? {
    try text(.genericPassword(service: service, account: account, accessGroup: group))
  }

  func text(_ identity: CredentialIdentity) throws -> String? {
    guard let stored = try secret(for: identity) else { return nil }
    return stored.secret.withBytes { $0.text }
  }
}

/// Expects a call to fail with a code.
func expect(
  _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: sourceLocation)
}

extension Desktop {
  /// Whether a program provides the Secret Service.
  var hasProvider: Bool {
    let answer = try? run(
      "dbus-send", "--print-reply", "--dest=org.freedesktop.DBus", "/",
      "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets")
    return answer.map { String(decoding: $0.output, as: UTF8.self).contains("true") } ?? false
  }

  func waitForEndOfProvider() { Self.wait { !hasProvider } }

  /// Waits at least two minutes for a result of other programs; the caller checks whether it
  /// happened.
  private static func wait(until condition: () -> Bool) {
    let end = ContinuousClock.now + .seconds(120)
    while !condition(), ContinuousClock.now < end { usleep(5000) }
  }

  /// Locks the default collection.
  func lock() throws {
    try store().run { operation throws(KeychainError) in
      let path = try operation.answer(to: operation.defaultCollectionQuestion).texts
      let answer = try operation.answer(
        to: operation.service("Lock", [.objectPaths(path)], reply: .values("aoo")))
      // KeePassXC locks through a prompt.
      guard let prompt = answer.elements.last?.text, prompt != "/" else { return }
      try operation.run(prompt: prompt, .silent, ifDenied: .lockedKeyring)
    }
  }

  /// Unlocks the default collection; for this, gnome-keyring is restarted and returned.
  func unlock(_ provider: Provider) throws -> Child? {
    let password = try #require(environment["DESKTOP_PASSWORD"])
    guard provider == .keePassXC else {
      kill(providerProcess, SIGKILL)
      waitForEndOfProvider()
      return try startGnomeKeyring(password: password)
    }
    try run(
      "dbus-send", "--print-reply", "--dest=org.keepassxc.KeePassXC.MainWindow", "/keepassxc",
      "org.keepassxc.KeePassXC.MainWindow.openDatabase",
      "string:\(try #require(environment["HOME"]))/test.kdbx", "string:\(password)")
    Self.wait { isUnlocked }
    return nil
  }

  /// Calls a method of the Secret Service, and returns the reply in the format of `dbus-send`.
  @discardableResult
  func callService(_ method: String, _ arguments: String...) throws -> String {
    let answer = try run(
      "dbus-send",
      [
        "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
        "org.freedesktop.Secret.Service.\(method)",
      ] + arguments)
    return String(decoding: answer.output, as: UTF8.self)
  }

  /// Restarts the provider with the existing keyrings, and waits until it can be used.
  func startGnomeKeyring(password: String?) throws -> Child {
    let unlock = password == nil ? [] : ["--unlock"]
    let child = try Child(
      ["gnome-keyring-daemon", "--foreground", "--components=secrets"] + unlock, environment)
    child.finishInput(password ?? "")
    Self.wait { password == nil ? hasProvider : isUnlocked }
    return child
  }

  /// Whether there is an unlocked default collection.
  private var isUnlocked: Bool {
    let answer = try? run(
      "dbus-send", "--print-reply", "--dest=org.freedesktop.secrets",
      "/org/freedesktop/secrets/aliases/default", "org.freedesktop.DBus.Properties.Get",
      "string:org.freedesktop.Secret.Collection", "string:Locked")
    return answer.map { String(decoding: $0.output, as: UTF8.self).contains("false") } ?? false
  }

  /// Configures the bus to start a provider on demand.
  func makeProviderActivatable(_ command: String) throws {
    let runtime = try #require(environment["XDG_RUNTIME_DIR"])
    let file = URL(filePath: runtime).deletingLastPathComponent()
      .appending(path: "services/org.freedesktop.secrets.service")
    let text = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(command)\n"
    try text.write(to: file, atomically: true, encoding: .utf8)
    try run(
      "dbus-send", "--print-reply", "--dest=org.freedesktop.DBus", "/",
      "org.freedesktop.DBus.ReloadConfig")
  }
}

import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

@Suite("Faults of the bus and its programs", .timeLimit(.minutes(10)))
struct FaultTests {
  private let identity = CredentialIdentity.genericPassword(service: "test", account: "a")

  private func store(
    _ environment: [String: String], deadline: Duration = Desktop.timeout
  ) -> SecretServiceStore {
    var configuration = SecretServiceStore.Configuration(deadline: deadline)
    configuration.environment = environment
    return SecretServiceStore(configuration: configuration)
  }

  private func temporaryPath() -> String {
    FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID().uuidString)").path
  }

  /// A deadline that is expected to expire.
  ///
  /// Calls that must succeed use a longer one: on a busy machine, a second passes quickly.
  private static let short = Duration.seconds(1)

  /// Runs a call that must end soon, and returns its failure.
  ///
  /// The limit allows for a busy machine, and is still less than any other deadline: those of the
  /// stores, and GLib's 25 seconds.
  private func failure(
    within limit: Duration = .seconds(20), _ body: () throws -> Void
  ) -> KeychainError.Code? {
    let start = ContinuousClock.now
    let error = #expect(throws: KeychainError.self) { try body() }
    #expect(ContinuousClock.now - start < limit)
    return error?.code
  }

  @Test func withoutABusThereIsNoStore() {
    let environments = [
      [:], ["XDG_RUNTIME_DIR": "/nonexistent"], ["DBUS_SESSION_BUS_ADDRESS": "autolaunch:"],
      ["DBUS_SESSION_BUS_ADDRESS": "tcp:host=127.0.0.1,port=9"],
      ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"],
      ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(String(repeating: "x", count: 200))"],
    ]
    let limit = Duration.milliseconds(200)
    for environment in environments {
      let time = shortestTime(below: limit) {
        let code = failure { _ = try store(environment).credential(for: identity) }
        #expect(code == .noStore, "\(environment)")
      }
      #expect(time < limit, "\(environment)")
    }
  }

  @Test func fileThatIsNotASocketIsNotABus() throws {
    let (fifo, file) = (temporaryPath(), temporaryPath())
    #expect(mkfifo(fifo, 0o600) == 0)
    try Data("text".utf8).write(to: URL(filePath: file))
    for path in [fifo, file] {
      let store = store(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"])
      #expect(failure { _ = try store.credential(for: identity) } == .noStore)
      unlink(path)
    }
  }

  /// Calls `body` while a socket at a path accepts connections and sends nothing.
  private func withSilentListener(
    at path: String, as user: [String] = [], _ body: () throws -> Void
  ) throws {
    let program =
      "import socket,sys;s=socket.socket(socket.AF_UNIX);s.bind(sys.argv[1]);s.listen();"
      + "print(flush=True);sys.stdin.read()"
    let listener = try Child(
      user + ["/usr/bin/python3", "-c", program, path], ProcessInfo.processInfo.environment)
    defer {
      listener.finishInput()
      listener.wait()
      unlink(path)
    }
    try #require(!listener.read(until: "\n").isEmpty)
    try body()
  }

  @Test func aSilentBusTimesOut() throws {
    let path = temporaryPath()
    try withSilentListener(at: path) {
      let store = store(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"], deadline: Self.short)
      #expect(failure { _ = try store.credential(for: identity) } == .timedOut)
    }
  }

  // An address left over from `sudo` or `su` must not expose secrets to another user.
  @Test(.superuser) func busOfAnotherUserIsRefused() throws {
    let path = "/tmp/bus-\(UUID().uuidString)"
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try withSilentListener(at: path, as: nobody) {
      let address = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"]
      #expect(failure { _ = try store(address).credential(for: identity) } == .noStore)
      #expect(SecretServiceProbe.run(environment: address).failure?.code == .noStore)
    }
  }

  @Test func withoutAProviderThereIsNoStore() throws {
    let desktop = try Desktop(.none)
    let store = desktop.store()
    #expect(failure { _ = try store.credential(for: identity) } == .noStore)
    #expect(failure { try store.put("a", "s") } == .noStore)
  }

  @Test func stoppedProviderTimesOutThenWorksAgain() throws {
    let desktop = try Desktop(.gnomeKeyring)
    // They share the connection.
    let (store, hasty) = (desktop.store(), desktop.store { $0.deadline = Self.short })
    try store.put("a", "before")
    kill(desktop.providerProcess, SIGSTOP)
    #expect(failure { _ = try hasty.text("a") } == .timedOut)
    #expect(failure { try hasty.put("b", "meanwhile") } == .timedOut)
    kill(desktop.providerProcess, SIGCONT)
    #expect(try store.text("a") == "before")
  }

  @Test func aStoppedBusTimesOut() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let (store, hasty) = (desktop.store(), desktop.store { $0.deadline = Self.short })
    try store.put("a", "before")
    kill(desktop.busProcess, SIGSTOP)
    for _ in 0..<2 { #expect(failure { _ = try hasty.text("a") } == .timedOut) }
    kill(desktop.busProcess, SIGCONT)
    #expect(try store.text("a") == "before")
  }

  @Test func aProviderThatWasStartedAgainIsFound() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try store.put("a", "before")
    kill(desktop.providerProcess, SIGKILL)
    desktop.waitForEndOfProvider()
    #expect(failure { _ = try store.text("a") } == .noStore)
    let again = try desktop.startGnomeKeyring(password: desktop.environment["DESKTOP_PASSWORD"])
    #expect(try store.text("a") == "before")
    // No call happens between the end and the start: the old connection must not block the new one.
    try store.put("b", "second")
    again.end()
    desktop.waitForEndOfProvider()
    let third = try desktop.startGnomeKeyring(password: desktop.environment["DESKTOP_PASSWORD"])
    defer { third.end() }
    try store.put("b", "third")
    #expect(try store.text("b") == "third")
  }

  @Test func providerKilledDuringCallIsNoStore() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try store.put("a", "before")
    // A stopped provider does not answer; the bus reports its end to waiting callers.
    kill(desktop.providerProcess, SIGSTOP)
    let killer = Thread {
      usleep(200_000)
      kill(desktop.providerProcess, SIGKILL)
    }
    killer.start()
    #expect(failure { _ = try store.text("a") } == .noStore)
    let again = try desktop.startGnomeKeyring(password: desktop.environment["DESKTOP_PASSWORD"])
    defer { again.end() }
    #expect(try store.text("a") == "before")
  }

  @Test func silentPortIsNotABus() throws {
    let program =
      "import socket,sys;s=socket.create_server(('127.0.0.1',0));"
      + "print(s.getsockname()[1],flush=True);sys.stdin.read()"
    let listener = try Child(
      ["/usr/bin/python3", "-c", program], ProcessInfo.processInfo.environment)
    defer {
      listener.finishInput()
      listener.wait()
    }
    let port = try #require(
      Int(
        String(decoding: listener.read(until: "\n"), as: UTF8.self)
          .trimmingCharacters(in: .newlines)))
    let address = ["DBUS_SESSION_BUS_ADDRESS": "tcp:host=127.0.0.1,port=\(port)"]
    #expect(failure { _ = try store(address).credential(for: identity) } == .noStore)
    #expect(SecretServiceProbe.run(environment: address).failure?.code == .noStore)
  }

  @Test func aBusThatEndedIsNoStore() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try store.put("a", "before")
    kill(desktop.busProcess, SIGKILL)
    // The first call may meet the end of the connection, which says less than that nobody listens.
    let first = failure { _ = try store.text("a") }
    #expect(first == .noStore || first == .busy)
    #expect(failure { _ = try store.text("a") } == .noStore)
  }

  @Test func aLockedKeyringIsNotAnEmptyOne() throws {
    let desktop = try Desktop(.gnomeKeyring)
    try desktop.store().put("a", "secret")
    try desktop.lock()
    let allowed = desktop.store { $0.interaction = .allowed }
    for store in [desktop.store(), allowed] {
      #expect(failure { _ = try store.text("a") } == .locked)
      #expect(failure { _ = try store.text("absent") } == .locked)
      #expect(failure { try store.put("a", "other") } == .locked)
      #expect(failure { try store.remove(identity) } == .locked)
      let found = try store.search(CredentialQuery())
      #expect(found.credentials.isEmpty && found.lockedCount == 1)
    }
    let probe = SecretServiceProbe.run(environment: desktop.environment)
    #expect(probe.isLocked == true && probe.failure?.code == .locked)
  }

  @Test func collectionsThatAreNotThereAreNoStore() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let named = desktop.store { $0.collection = .named("nothing") }
    #expect(failure { _ = try named.text("a") } == .noStore)
    #expect(failure { try named.put("a", "s") } == .noStore)
    let session = desktop.store { $0.collection = .session }
    try session.put("a", "for now")
    #expect(try session.text("a") == "for now")
    #expect(try desktop.store().text("a") == nil)
    #expect(try desktop.store { $0.collection = .named("Login") }.text("a") == nil)
  }

  @Test func collectionsAreFoundByLabelAndByPath() throws {
    let desktop = try Desktop(.gnomeKeyring)
    try desktop.store().put("a", "by default")
    for name in ["Login", "/org/freedesktop/secrets/collection/login"] {
      let store = desktop.store { $0.collection = .named(name) }
      #expect(try store.text("a") == "by default", "\(name)")
      try store.put("b", name)
      #expect(try desktop.store().text("b") == name)
    }
    for name in ["/org/freedesktop/secrets/collection/nothing", "/org/freedesktop/secrets/"] {
      let store = desktop.store { $0.collection = .named(name) }
      #expect(failure { _ = try store.text("a") } == .noStore)
      #expect(failure { try store.put("a", "s") } == .noStore)
      #expect(failure { _ = try store.search(CredentialQuery()) } == .noStore)
    }
  }

  // A question is allowed, but nothing on this bus shows questions.
  @Test func aLockedKeyringWithoutPrompterIsLocked() throws {
    let desktop = try Desktop(.gnomeKeyring)
    try desktop.store().put("a", "secret")
    try desktop.lock()
    var environment = desktop.environment
    environment["DISPLAY"] = ":4711"
    let store = desktop.store {
      $0.interaction = .allowed
      $0.environment = environment
    }
    #expect(failure { _ = try store.text("a") } == .locked)
    #expect(failure { try store.put("a", "other") } == .locked)
  }

  @Test func unsupportedPromisesAreRefused() throws {
    let store = store([:])
    let credential = Credential(identity, accessibility: .whenPasscodeSetThisDeviceOnly)
    expect(.refused) { try store.set(credential, secret: SecretBytes(copying: "s")) }
  }

  @Test func withoutLibsecretThereIsNoStore() {
    let error = #expect(throws: KeychainError.self) { try Libsecret("libnothing-1.so.0") }
    #expect(error?.code == .noStore && error?.message.contains("not installed") == true)
    let lacking = #expect(throws: KeychainError.self) { try Libsecret("libc.so.6") }
    #expect(lacking?.code == .noStore && lacking?.message.contains("newer") == true)
  }
}

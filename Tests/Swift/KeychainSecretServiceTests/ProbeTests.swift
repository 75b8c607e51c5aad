import KeychainCredentials
import Testing

@testable import KeychainSecretService

@Suite("The probe", .timeLimit(.minutes(10)))
struct ProbeTests {
  @Test func withoutABusItTakesNoTime() {
    let limit = Duration.milliseconds(50)
    let time = shortestTime(below: limit) {
      let probe = SecretServiceProbe.run(environment: [:])
      #expect(probe.failure?.code == .noStore && probe.busAddress == nil)
    }
    #expect(time < limit)
  }

  @Test func itDescribesAProvider() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let probe = SecretServiceProbe.run(environment: desktop.environment)
    #expect(probe.failure == nil)
    #expect(probe.busAddress == desktop.environment["DBUS_SESSION_BUS_ADDRESS"])
    #expect(probe.busProcess == desktop.busProcess)
    #expect(probe.provider?.process == desktop.providerProcess)
    #expect(probe.provider?.name == "gnome-keyring-d" && probe.provider?.isOurs == true)
    #expect(probe.defaultCollection == "/org/freedesktop/secrets/collection/login")
    #expect(probe.isLocked == false)
  }

  @Test func itStartsNothing() throws {
    let desktop = try Desktop(.none)
    try desktop.makeProviderActivatable("/bin/false")
    let probe = SecretServiceProbe.run(environment: desktop.environment)
    #expect(probe.isActivatable && probe.provider == nil && probe.failure?.code == .noStore)
  }

  @Test func aCallStartsWhatItOnlyNames() throws {
    let desktop = try Desktop(.none)
    try desktop.makeProviderActivatable(
      "/usr/bin/gnome-keyring-daemon --start --foreground --components=secrets")
    let probe = SecretServiceProbe.run(environment: desktop.environment)
    #expect(probe.isActivatable && probe.provider == nil)
    // A keyring that does not exist yet cannot be created without a question.
    expect(.noStore) { try desktop.store().put("a", "s") }
    #expect(desktop.hasProvider)
  }
}

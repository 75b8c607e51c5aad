import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Synchronization
import Testing

@Suite struct AuthenticationTests {
  private func cluster(_ arguments: [String] = [], usesTLS: Bool = false) throws -> EtcdServer {
    let server = try EtcdServer(usesTLS: usesTLS, arguments: arguments)
    try server.enableAuthentication()
    try server.addUser("fleet", password: "pass \"word\\", prefix: "w/")
    return server
  }

  private func configuration(
    _ server: EtcdServer, password: String = "pass \"word\\"
  ) -> EtcdConfiguration {
    var configuration = server.configuration
    configuration.user = "fleet"
    configuration.password = { Array(password.utf8) }
    return configuration
  }

  private func failure(_ body: () throws -> Void) -> EtcdError? {
    do { try body() } catch { return error as? EtcdError }
    return nil
  }

  @Test func aUserReadsAndWritesItsPrefixOnly() throws {
    let server = try cluster()
    defer { server.end() }
    let client = EtcdClient(configuration(server))
    _ = try client.put(bytes("w/a"), [1], deadline: .test)
    #expect(try client.range(.prefix(bytes("w/")), deadline: .test).rows.count == 1)
    #expect(client.isWithoutAuthentication == false)
    let other = failure { _ = try client.put(bytes("x"), [1], deadline: .test) }
    #expect(other?.code == .permissionDenied && other?.mayHaveHappened == false)
  }

  @Test func wrongAndMissingPasswordsAreDistinguished() throws {
    let server = try cluster()
    defer { server.end() }
    func code(_ configuration: EtcdConfiguration) -> EtcdError.Code? {
      let client = EtcdClient(configuration)
      return failure { _ = try client.put(bytes("w/a"), [1], deadline: .test) }?.code
    }
    #expect(code(configuration(server, password: "wrong")) == .wrongPassword)
    #expect(code(server.configuration) == .passwordUnavailable)
    var unreadable = configuration(server)
    unreadable.password = { throw CocoaError(.fileNoSuchFile) }
    #expect(code(unreadable) == .passwordUnavailable)
  }

  @Test func clusterWithoutAuthenticationIsKnown() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = EtcdClient(configuration(server))
    #expect(client.isWithoutAuthentication == nil)
    _ = try client.put(bytes("w/a"), [1], deadline: .test)
    #expect(client.isWithoutAuthentication == true)
    // From now on, it doesn't.
    try server.enableAuthentication()
    try server.addUser("fleet", password: "pass \"word\\", prefix: "w/")
    _ = try client.put(bytes("w/a"), [2], deadline: .test)
    #expect(client.isWithoutAuthentication == false)
  }

  @Test func concurrentCallsLogInOnce() throws {
    let server = try cluster()
    defer { server.end() }
    var configuration = configuration(server)
    let logins = Counter()
    let password = configuration.password
    configuration.password = {
      logins.add()
      return try password?() ?? []
    }
    let client = EtcdClient(configuration)
    let group = DispatchGroup()
    let failures = Counter()
    for number in 0..<8 {
      group.enter()
      Thread.detachNewThread {
        if (try? client.put(bytes("w/\(number)"), [1], deadline: .test)) == nil { failures.add() }
        group.leave()
      }
    }
    group.wait()
    #expect(failures.value == 0)
    #expect(logins.value == 1)
  }

  /// A restarted member knows no token of before.
  @Test func aForgottenTokenIsRenewed() throws {
    let server = try cluster()
    defer { server.end() }
    let client = EtcdClient(configuration(server))
    _ = try client.put(bytes("w/a"), [1], deadline: .test)
    server.kill()
    try server.start()
    _ = try client.put(bytes("w/a"), [2], deadline: .test)
    #expect(try client.range(.one(bytes("w/a")), deadline: .test).rows.map(\.version) == [2])
  }

  @Test func aWatchEndsWhenTheRoleIsTakenAway() throws {
    let server = try cluster()
    defer { server.end() }
    var configuration = configuration(server)
    configuration.timing.checking = .milliseconds(50)
    let client = EtcdClient(configuration)
    let error = failure {
      try client.watch(
        .prefix(bytes("w/")), from: 1, cancellation: .test,
        began: { _ in try server.revokeUser("fleet") }, handler: { _ in })
    }
    #expect(error?.code == .permissionDenied)
    let refused = failure {
      try client.watch(
        .prefix(bytes("w/")), from: 1, cancellation: .test, handler: { _ in })
    }
    #expect(refused?.code == .permissionDenied)
  }

  @Test func aWatchGoesOnWithANewToken() throws {
    struct Enough: Error {}
    let server = try cluster()
    defer { server.end() }
    var configuration = configuration(server)
    configuration.timing.checking = .milliseconds(20)
    configuration.timing.keepingToken = .milliseconds(10)
    let logins = Counter()
    let password = configuration.password
    configuration.password = {
      logins.add()
      return try password?() ?? []
    }
    let client = EtcdClient(configuration)
    let writer = EtcdClient(self.configuration(server))
    let start = try writer.put(bytes("w/a"), [0], deadline: .test).revision
    var values: [[UInt8]] = []
    #expect(throws: Enough.self) {
      try client.watch(
        .prefix(bytes("w/")), from: start + 1, cancellation: .test,
        began: { _ in
          Thread.detachNewThread {
            for number in 1...20 {
              _ = try? writer.put(bytes("w/a"), [UInt8(number)], deadline: .test)
              usleep(30_000)
            }
          }
        },
        handler: { answer in
          values += answer.events.map(\.row.value)
          if values.count >= 20 { throw Enough() }
        })
    }
    #expect(values == (1...20).map { [UInt8($0)] })
    #expect(logins.value > 1)
  }

  @Test func aSealedKeyIsRefusedWithoutAQuestion() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      // Without a terminal, OpenSSL would ask here.
      setsid()
      let server = try EtcdServer(usesTLS: true)
      defer { server.end() }
      let key = try #require(server.certificates?.key)
      let sealed = "\(server.folder)/sealed.pem"
      let openssl = try Process.run(
        URL(filePath: "/usr/bin/env"),
        arguments: [
          "openssl", "pkcs8", "-topk8", "-in", key, "-out", sealed, "-passout", "pass:secret",
        ])
      openssl.waitUntilExit()
      var configuration = server.configuration
      configuration.key = sealed
      let error = #expect(throws: EtcdError.self) {
        try EtcdClient(configuration).range(.one([1]), deadline: .test)
      }
      #expect(error?.code == .certificate)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(!text.contains("pass phrase"))
  }

  @Test func certificatesAreChecked() throws {
    let server = try cluster(usesTLS: true)
    defer { server.end() }
    let good = configuration(server)
    _ = try EtcdClient(good).put(bytes("w/a"), [1], deadline: .test)
    func code(_ change: (inout EtcdConfiguration) -> Void) -> EtcdError.Code? {
      var configuration = good
      change(&configuration)
      let client = EtcdClient(configuration)
      return failure { _ = try client.range(.one(bytes("w/a")), deadline: .test) }?.code
    }
    #expect(code { $0.certificateAuthority = nil } == .certificate)
    #expect(code { $0.certificateAuthority = "/nowhere" } == .certificate)
    #expect(code { $0.endpoints[0].host = "localhost" } == .certificate)
    #expect(
      code {
        $0.certificate = nil
        $0.key = nil
      } == .certificate)
    #expect(
      code {
        $0.certificate = server.certificates?.namedCertificate
        $0.key = server.certificates?.namedKey
      } == .certificate)
    #expect(code { $0.usesTLS = false } != nil)
  }
}

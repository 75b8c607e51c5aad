import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Testing

/// Which endpoint is asked, with which login, and what is told when several fail.
@Suite struct EndpointTests {
  private static let password: @Sendable () throws -> [UInt8] = { Array("a password".utf8) }

  private func failure(_ body: () throws -> Void) -> EtcdError? {
    do { try body() } catch { return error as? EtcdError }
    return nil
  }

  /// A server that counts its requests, and answers all.
  private func answering() throws -> FakeServer {
    try FakeServer { connection, count in
      while connection.request() != nil {
        _ = count()
        connection.answer("{\(FakeServer.header)}")
      }
    }
  }

  @Test func clientsBeginAtAnyEndpointAndStay() throws {
    let servers = try (0..<3).map { _ in try answering() }
    var configuration = servers[0].configuration
    configuration.endpoints = servers.flatMap(\.configuration.endpoints)
    for _ in 0..<40 {
      let before = servers.map(\.requests)
      let client = EtcdClient(configuration)
      for _ in 0..<2 { _ = try client.range(.one([1]), deadline: .test) }
      #expect(Set(zip(before, servers).map { $1.requests - $0 }) == [0, 2])
    }
    // That all 40 leave one out happens once in ten million runs.
    #expect(servers.allSatisfy { $0.requests > 0 })
  }

  @Test func aChangeThatIsNotAnsweredLeavesTheEndpoint() throws {
    let silent = try FakeServer { connection, count in
      guard connection.request() != nil else { return }
      _ = count()
      connection.waitForEnd()
    }
    let good = try answering()
    var configuration = silent.configuration
    configuration.endpoints += good.configuration.endpoints
    configuration.timing.silence = .milliseconds(50)
    for _ in 0..<10 {
      let client = EtcdClient(configuration)
      _ = failure { _ = try client.put([1], [2], deadline: .test) }
      let before = silent.requests
      #expect(try client.put([1], [2], deadline: .test).revision == 7)
      #expect(silent.requests == before)
    }
    #expect(silent.requests > 0)
  }

  @Test func silenceIsNotWaitedForTwice() throws {
    let silent = try FakeServer { connection, count in
      guard connection.request() != nil else { return }
      _ = count()
      connection.waitForEnd()
    }
    var configuration = silent.configuration
    configuration.timing.silence = .seconds(2)
    let client = EtcdClient(configuration)
    let begin = ContinuousClock.now
    let error = failure { _ = try client.put([1], [2], deadline: .test) }
    #expect(error?.code == .unreachable && silent.requests == 1)
    #expect(begin.duration(to: .now) < .milliseconds(3700))
  }

  @Test func failureForAPersonIsReportedFirst() throws {
    let closed = try { try FakeServer { _, _ in }.port }()
    let strange = try FakeServer { connection, _ in
      while connection.request() != nil {
        connection.answer("<html>", status: "404 Not Found")
      }
    }
    var configuration = strange.configuration
    configuration.endpoints += [
      .init(host: "127.0.0.1", port: closed), .init(host: "localhost", port: closed),
    ]
    var told: Set<String> = []
    for _ in 0..<5 {
      let error = failure {
        _ = try EtcdClient(configuration).range(.one([1]), deadline: .test)
      }
      #expect(error?.code == .protocolViolation)
      told.insert(error?.message ?? "")
    }
    // The same, whichever endpoint was asked first.
    #expect(told.count == 1)
    let message = try #require(told.first)
    #expect(message.hasPrefix("127.0.0.1:\(strange.port) answers with the HTTP status 404"))
    #expect(message.contains("; other endpoints: 127.0.0.1:\(closed) cannot be reached"))
    #expect(message.contains("; localhost:\(closed) cannot be reached"))
  }

  @Test func equalFailuresOfEndpointsAreReportedOnce() throws {
    let servers = try (0..<3).map { _ in
      try FakeServer { connection, _ in
        while connection.request() != nil {
          connection.answer("<html>", status: "404 Not Found")
        }
      }
    }
    var configuration = servers[0].configuration
    configuration.endpoints = servers.flatMap(\.configuration.endpoints)
    let error = failure { _ = try EtcdClient(configuration).range(.one([1]), deadline: .test) }
    let message = try #require(error?.message)
    #expect(message.components(separatedBy: "answers with").count == 2)
    for server in servers { #expect(message.contains("127.0.0.1:\(server.port)")) }
  }

  @Test(arguments: [("<html>", "200 OK"), ("<html>", "503 Busy"), ("{}", "200 OK")])
  func aConnectionIsNotUsedAgainAfterAnAnswerThatIsNotEtcds(_ body: String, _ status: String) throws
  {
    let connections = Counter()
    let server = try FakeServer { connection, count in
      let number = connections.add()
      while connection.request() != nil {
        _ = count()
        number == 1
          ? connection.answer(body, status: status) : connection.answer("{\(FakeServer.header)}")
      }
    }
    let client = server.client
    #expect(try client.range(.one([1]), deadline: .test).header.revision == 7)
    #expect(try client.range(.one([1]), deadline: .test).header.revision == 7)
    #expect(server.requests == 3)
    #expect(connections.value == 2)
  }

  /// Starts a server that lets everybody log in, and answers only some of the other requests.
  private func silentServer(
    _ logins: Counter, answers: @escaping @Sendable (Int) -> Bool
  ) throws -> (server: FakeServer, client: EtcdClient) {
    let server = try FakeServer { connection, count in
      while let (path, _) = connection.request() {
        if path == "/v3/auth/authenticate" {
          connection.answer(#"{"token":"t.\#(logins.add())"}"#)
        } else if answers(count()) {
          connection.answer("{\(FakeServer.header)}")
        } else {
          return connection.waitForEnd()
        }
      }
    }
    var configuration = server.configuration
    configuration.user = "fleet"
    configuration.password = Self.password
    configuration.timing.silence = .milliseconds(50)
    return (server, EtcdClient(configuration))
  }

  /// A member that was restored is silent to whoever has a newer token.
  @Test func aTokenIsForgottenWhenItIsNotAnsweredAnyMore() throws {
    let logins = Counter()
    // The first is answered, and then only those with a new login.
    let (server, client) = try silentServer(logins) { count in count == 1 || logins.value > 1 }
    _ = try client.put([1], [2], deadline: .test)
    let error = failure { _ = try client.put([1], [2], deadline: .test) }
    #expect(error?.mayHaveHappened == true)
    #expect(try client.put([1], [2], deadline: .test).revision == 7)
    #expect(server.requests == 3)
    #expect(logins.value == 2)
  }

  @Test func silentMembersAreNotAskedToLogInAgainAndAgain() throws {
    let logins = Counter()
    let (server, client) = try silentServer(logins) { count in count == 1 }
    _ = try client.put([1], [2], deadline: .test)
    for _ in 0..<5 {
      let error = failure {
        _ = try client.range(.one([1]), deadline: .test)
      }
      #expect(error?.code == .unreachable)
    }
    #expect(server.requests == 11)
    #expect(logins.value == 2)
  }

  @Test func aFailedLoginIsNoChange() throws {
    let server = try FakeServer { connection, _ in
      while connection.request() != nil {
        connection.answer(
          #"{"code":14,"message":"etcdserver: request timed out"}"#,
          status: "503 Service Unavailable")
      }
    }
    var configuration = server.configuration
    configuration.user = "fleet"
    configuration.password = Self.password
    let client = EtcdClient(configuration)
    let error = failure { _ = try client.put([1], [2], deadline: .test) }
    #expect(error?.code == .unreachable && error?.mayHaveHappened == false)
  }
}

import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Testing

/// What a client makes of cut, slow, half and wrong answers.
@Suite struct FaultTests {
  private let change = EtcdTransaction(success: [.put(key: [1], value: [2])])

  private func failure(_ body: () throws -> Void) -> EtcdError? {
    do { try body() } catch { return error as? EtcdError }
    return nil
  }

  @Test func aRefusedConnectionIsNoChange() throws {
    let port = try { try FakeServer { _, _ in }.port }()
    let client = EtcdClient(
      EtcdConfiguration(endpoints: [.init(host: "127.0.0.1", port: port)], usesTLS: false))
    let error = failure { _ = try client.perform(change, deadline: .test) }
    #expect(error?.code == .unreachable)
    #expect(error?.mayHaveHappened == false)
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"header\"", "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"hea\r\n", "garbage",
  ])
  func aCutAnswerMayBeAChange(_ text: String) throws {
    let server = try FakeServer { connection, count in
      guard connection.request() != nil else { return }
      _ = count()
      connection.send(text)
    }
    let client = server.client
    let error = failure { _ = try client.perform(change, deadline: .test) }
    #expect(error?.mayHaveHappened == true)
    #expect(server.requests == 1)
    // A read tries again, and says that nothing can have happened.
    let read = failure {
      _ = try client.range(.one([1]), deadline: .test)
    }
    #expect(read != nil && read?.mayHaveHappened == false)
    #expect(server.requests == 3)
  }

  /// libcurl sends a request again by itself when a kept connection ends without an answer: then a
  /// transaction that was performed would be answered as one that was refused.
  @Test func aChangeIsNotSentTwiceOnAKeptConnection() throws {
    let server = try FakeServer { connection, count in
      while connection.request() != nil {
        guard count() == 1 else { return }
        connection.answer("{\(FakeServer.header)}")
      }
    }
    let client = server.client
    _ = try client.range(.one([1]), deadline: .test)
    let error = failure { _ = try client.perform(change, deadline: .test) }
    #expect(error?.mayHaveHappened == true)
    #expect(server.requests == 2)
  }

  @Test func theDeadlineEndsASlowAnswer() throws {
    let server = try FakeServer { connection, _ in
      guard connection.request() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
      connection.waitForEnd()
    }
    let client = server.client
    let error = failure {
      _ = try client.perform(change, deadline: Deadline(after: .milliseconds(100)))
    }
    #expect(error?.code == .timedOut && error?.mayHaveHappened == true)
  }

  @Test func theDeadlineEndsAnAnswerThatNeverDoes() throws {
    let server = try FakeServer { connection, _ in
      guard connection.request() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while connection.send("1\r\n \r\n") {}
    }
    let client = server.client
    let error = failure {
      _ = try client.range(.one([1]), deadline: Deadline(after: .milliseconds(100)))
    }
    #expect(error?.code == .timedOut || error?.code == .tooLarge)
  }

  @Test func aSilentEndpointIsGivenUpForAnother() throws {
    let silent = try FakeServer { connection, _ in connection.waitForEnd() }
    let good = try FakeServer { connection, _ in
      while connection.request() != nil { connection.answer("{\(FakeServer.header)}") }
    }
    var configuration = silent.configuration
    configuration.endpoints += good.configuration.endpoints
    configuration.timing.silence = .milliseconds(50)
    let client = EtcdClient(configuration)
    #expect(try client.range(.one([1]), deadline: .test).header.revision == 7)
  }

  @Test func aCancellationEndsACall() throws {
    let reached = DispatchSemaphore(value: 0)
    let server = try FakeServer { connection, _ in
      guard connection.request() != nil else { return }
      reached.signal()
      connection.waitForEnd()
    }
    let client = server.client
    let cancellation = EtcdCancellation()
    Thread.detachNewThread {
      reached.wait()
      cancellation.cancel()
    }
    let error = failure {
      _ = try client.perform(change, deadline: .test, cancellation: cancellation)
    }
    #expect(error?.code == .cancelled && error?.mayHaveHappened == true)
    let later = failure {
      _ = try client.perform(change, deadline: .test, cancellation: cancellation)
    }
    #expect(later?.code == .cancelled && later?.mayHaveHappened == false)
  }

  struct Case: Sendable {
    let status: String
    let body: String
    let code: EtcdError.Code
    let mayHaveHappened: Bool
  }

  @Test(arguments: [
    Case(
      status: "503 Service Unavailable",
      body: #"{"code":14,"message":"etcdserver: request timed out"}"#,
      code: .unreachable, mayHaveHappened: true),
    Case(
      status: "503 Service Unavailable",
      body: #"{"code":14,"message":"etcdserver: rpc not supported for learner"}"#,
      code: .unreachable, mayHaveHappened: false),
    Case(
      status: "500 Error", body: #"{"code":2,"message":"context deadline exceeded"}"#,
      code: .unreachable, mayHaveHappened: true),
    Case(status: "503 Busy", body: "<html>", code: .unreachable, mayHaveHappened: true),
    Case(
      status: "404 Not Found", body: "Not Found", code: .protocolViolation, mayHaveHappened: true),
    Case(status: "302 Found", body: "", code: .protocolViolation, mayHaveHappened: true),
    Case(
      status: "400 Bad Request", body: #"{"code":99,"message":"new"}"#, code: .protocolViolation,
      mayHaveHappened: true),
    Case(
      status: "501 Not Implemented", body: #"{"code":12,"message":"unknown method"}"#,
      code: .protocolViolation, mayHaveHappened: false),
    Case(
      status: "429 Too Many Requests",
      body: #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#, code: .noSpace,
      mayHaveHappened: false),
    Case(
      status: "429 Too Many Requests",
      body: #"{"code":8,"message":"grpc: received message larger than max (3 vs. 2)"}"#,
      code: .tooLarge, mayHaveHappened: false),
    Case(
      status: "400 Bad Request", body: #"{"code":3,"message":"etcdserver: request is too large"}"#,
      code: .tooLarge, mayHaveHappened: false),
    Case(
      status: "403 Forbidden", body: #"{"code":7,"message":"etcdserver: permission denied"}"#,
      code: .permissionDenied, mayHaveHappened: false),
    Case(
      status: "400 Bad Request", body: #"{"code":3,"message":"etcdserver: user name is empty"}"#,
      code: .passwordUnavailable, mayHaveHappened: false),
    Case(
      status: "400 Bad Request",
      body: "CommonName of client sending a request against gateway will be ignored",
      code: .certificate, mayHaveHappened: false),
    Case(status: "200 OK", body: "[]", code: .protocolViolation, mayHaveHappened: true),
  ])
  func refusalsAreDistinguished(_ refusal: Case) throws {
    let server = try FakeServer { connection, _ in
      while connection.request() != nil { connection.answer(refusal.body, status: refusal.status) }
    }
    let client = server.client
    let error = failure { _ = try client.perform(change, deadline: .test) }
    #expect(error?.code == refusal.code)
    #expect(error?.mayHaveHappened == refusal.mayHaveHappened)
  }

  @Test func aMemberWithoutLeaderIsLeft() throws {
    let first = try FakeServer { connection, count in
      while connection.request() != nil {
        _ = count()
        connection.answer(
          #"{"code":14,"message":"etcdserver: no leader"}"#, status: "503 Service Unavailable")
      }
    }
    let second = try FakeServer { connection, _ in
      while connection.request() != nil { connection.answer("{\(FakeServer.header)}") }
    }
    var configuration = first.configuration
    let alone = EtcdClient(configuration)
    let error = failure {
      _ = try alone.put([1], [2], deadline: Deadline(after: .milliseconds(200)))
    }
    #expect(error?.code == .unreachable)
    #expect(error?.mayHaveHappened == false)
    #expect(first.requests > 1)
    configuration.endpoints += second.configuration.endpoints
    #expect(try EtcdClient(configuration).put([1], [2], deadline: .test).revision == 7)
  }

  @Test func proxiesOfTheEnvironmentAreNotUsed() async throws {
    await #expect(processExitsWith: .success) {
      setenv("http_proxy", "http://127.0.0.1:1", 1)
      setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
      let server = try FakeServer { connection, _ in
        while connection.request() != nil { connection.answer("{\(FakeServer.header)}") }
      }
      let answer = try server.client.range(.one([1]), deadline: .test)
      #expect(answer.header.revision == 7)
    }
  }
}

import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Synchronization
import Testing

@Suite struct WatchTests {
  private struct Enough: Error {}

  /// Collects changes until there are as many as wanted, and returns the values in order.
  private func collect(
    _ count: Int, _ client: EtcdClient, from revision: Int64, began: () throws -> Void = {},
    each: ([EtcdEvents.Event]) throws -> Void = { _ in }
  ) throws -> [EtcdEvents.Event] {
    var events: [EtcdEvents.Event] = []
    do {
      try client.watch(
        .prefix(bytes("w/")), from: revision, cancellation: .test,
        began: { _ in try began() }
      ) { answer in
        events += answer.events
        try each(answer.events)
        if events.count >= count { throw Enough() }
      }
    } catch is Enough {}
    return events
  }

  private func failure(_ body: () throws -> Never) -> EtcdError? {
    do { try body() } catch { return error as? EtcdError }
  }

  @Test func changesArriveInOrder() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let first = try client.put(bytes("w/a"), [1], deadline: .test)
    let events = try collect(4, client, from: first.revision) {
      _ = try client.put(bytes("other"), [9], deadline: .test)
      _ = try client.perform(
        EtcdTransaction(success: [
          .put(key: bytes("w/b"), value: [2]), .put(key: bytes("w/c"), value: [3]),
        ]), deadline: .test)
      _ = try client.delete(.one(bytes("w/a")), deadline: .test)
    }
    #expect(events.map(\.row.key) == ["w/a", "w/b", "w/c", "w/a"].map(bytes))
    #expect(events.map(\.row.value) == [[1], [2], [3], []])
    #expect(events.map(\.isRemoval) == [false, false, false, true])
    #expect(events[1].row.modRevision == events[2].row.modRevision)
    #expect(events[3].row.modRevision == events[2].row.modRevision + 1)
  }

  /// A long history is answered in fragments, which divide revisions.
  @Test func aRevisionIsNeverDivided() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let start = try client.range(.one([1]), deadline: .test).header.revision + 1
    for round in 0..<20 {
      let value = [UInt8](repeating: UInt8(round), count: 9000)
      _ = try client.perform(
        EtcdTransaction(success: (0..<100).map { .put(key: bytes("w/\($0)"), value: value) }),
        deadline: .test)
    }
    var answers = 0
    let events = try collect(
      2000, client, from: start,
      each: { events in
        answers += 1
        #expect(events.count % 100 == 0)
      })
    #expect(answers > 1)
    #expect(events.count == 2000)
    #expect(events.map(\.row.modRevision) == events.map(\.row.modRevision).sorted())
  }

  @Test func itIsRenewedWithoutGapOrRepetition() throws {
    let server = try EtcdServer()
    defer { server.end() }
    var configuration = server.configuration
    configuration.timing.renewing = .milliseconds(30)
    configuration.timing.checking = .milliseconds(10)
    let client = EtcdClient(configuration)
    let start = try client.range(.one([1]), deadline: .test).header.revision + 1
    let writer = server.client
    Thread.detachNewThread {
      for number in 0..<200 {
        _ = try? writer.put(bytes("w/k"), [UInt8(number)], deadline: .test)
        usleep(2000)
      }
    }
    let events = try collect(200, client, from: start)
    #expect(events.map(\.row.value) == (0..<200).map { [UInt8($0)] })
  }

  @Test func aCancellationEndsItAtOnce() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let cancellation = EtcdCancellation()
    let client = server.client
    let error = failure { () throws -> Never in
      try client.watch(
        .prefix(bytes("w/")), from: 1, cancellation: cancellation,
        began: { _ in Thread.detachNewThread { cancellation.cancel() } }, handler: { _ in })
    }
    #expect(error?.code == .cancelled)
  }

  @Test func aCompactedRevisionIsRefused() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    for _ in 0..<5 { _ = try client.put(bytes("w/a"), [1], deadline: .test) }
    try server.compact(5)
    let error = failure { () throws -> Never in
      try client.watch(
        .prefix(bytes("w/")), from: 2, cancellation: .test, handler: { _ in })
    }
    #expect(error?.code == .compacted)
    #expect(throws: EtcdError.self) {
      try client.range(.one(bytes("w/a")), revision: 2, deadline: .test)
    }
  }

  /// etcd accepts a watch from the future, and then leaves out what a restored cluster writes.
  @Test func aFutureRevisionIsRefused() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let snapshot = server.folder + "/snapshot"
    _ = try client.put(bytes("w/a"), [1], deadline: .test)
    try server.saveSnapshot(snapshot)
    let later = try client.put(bytes("w/a"), [2], deadline: .test)
    let more = try client.put(bytes("w/a"), [3], deadline: .test)
    try server.restoreSnapshot(snapshot)
    let error = failure { () throws -> Never in
      try client.watch(
        .prefix(bytes("w/")), from: more.revision + 1, cancellation: .test,
        handler: { _ in })
    }
    #expect(error?.code == .compacted)
    // The next revision is no future.
    let events = try collect(1, client, from: later.revision) {
      _ = try client.put(bytes("w/a"), [4], deadline: .test)
    }
    #expect(events.map(\.row.value) == [[4]])
  }

  @Test func itEndsWithItsServer() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let error = failure { () throws -> Never in
      try client.watch(
        .prefix(bytes("w/")), from: 1, cancellation: .test,
        began: { _ in Thread.detachNewThread { server.kill() } }, handler: { _ in })
    }
    #expect(error?.code == .unreachable)
  }

  @Test func itEndsWhenTheServerStandsStill() throws {
    let server = try EtcdServer()
    defer { server.end() }
    var configuration = server.configuration
    configuration.timing.checking = .milliseconds(50)
    configuration.timing.silence = .milliseconds(300)
    let client = EtcdClient(configuration)
    let error = failure { () throws -> Never in
      try client.watch(
        .prefix(bytes("w/")), from: 1, cancellation: .test,
        began: { _ in server.pause() }, handler: { _ in })
    }
    #expect(error?.code == .unreachable)
  }

  @Test func itEndsOnAMemberWithoutLeader() throws {
    let server = try EtcdServer(nodes: 3)
    defer { server.end() }
    var configuration = server.configuration
    configuration.endpoints = [configuration.endpoints[0]]
    let client = EtcdClient(configuration)
    let error = failure { () throws -> Never in
      try client.watch(
        .prefix(bytes("w/")), from: 1, cancellation: .test,
        began: { _ in
          server.kill(1)
          server.kill(2)
        }, handler: { _ in })
    }
    #expect(error?.code == .unreachable)
    let change = #expect(throws: EtcdError.self) {
      try client.put([1], [2], deadline: Deadline(after: .milliseconds(500)))
    }
    #expect(change?.code == .unreachable)
    #expect(change?.mayHaveHappened == false)
  }

  @Test(arguments: [
    #""header":{"revision":"9223372036854775807"}"#, #""header":{"revision":"-2"}"#,
    #""header":{"revision":"9"},"events":[{"kv":{"key":"dy8=","mod_revision":"-3"}}]"#,
    #""header":{},"events":[{"kv":{"key":"dy8=","mod_revision":"9223372036854775807"}}]"#,
    #""header":{"revision":"9"},"events":[{"kv":{"key":"eA==","mod_revision":"9"}}]"#,
  ])
  func itEndsWithAnAnswerThatCannotBe(_ answer: String) throws {
    let server = try FakeServer { connection, _ in
      while connection.request() != nil {
        connection.watch([#"\#(FakeServer.header),"created":true"#, answer])
      }
    }
    let error = failure { () throws -> Never in
      try server.client.watch(.prefix(bytes("w/")), from: 5, cancellation: .test) { _ in }
    }
    #expect(error?.code == .protocolViolation)
  }

  @Test(arguments: [[], [#"\#(FakeServer.header),"created":true"#]])
  func itEndsOnAConnectionThatOnlyDrips(_ results: [String]) throws {
    let server = try FakeServer { connection, _ in
      while let (path, _) = connection.request() {
        guard path == "/v3/watch" else { return }
        connection.beginWatch(results)
        while connection.send("1\r\n \r\n") { usleep(10_000) }
      }
    }
    var configuration = server.configuration
    configuration.timing.checking = .milliseconds(100)
    configuration.timing.silence = .milliseconds(300)
    let client = EtcdClient(configuration)
    let error = failure { () throws -> Never in
      try client.watch(.prefix(bytes("w/")), from: 5, cancellation: .test, handler: { _ in })
    }
    #expect(error?.code == .unreachable)
  }

  @Test func itEndsWhenChangesAreSwallowed() throws {
    let server = try FakeServer { connection, _ in
      while let (path, _) = connection.request() {
        if path == "/v3/watch" {
          connection.watch([#"\#(FakeServer.header),"created":true"#])
        } else {
          connection.answer(
            "{\(FakeServer.header),\"kvs\":[{\"key\":\"dy8=\",\"mod_revision\":\"6\"}]}")
        }
      }
    }
    var configuration = server.configuration
    configuration.timing.checking = .milliseconds(20)
    configuration.timing.silence = .milliseconds(500)
    let client = EtcdClient(configuration)
    let error = failure { () throws -> Never in
      try client.watch(.prefix(bytes("w/")), from: 5, cancellation: .test, handler: { _ in })
    }
    #expect(error?.code == .unreachable)
  }
}

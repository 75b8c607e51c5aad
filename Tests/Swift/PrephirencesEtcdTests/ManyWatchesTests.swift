import Dispatch
import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesSystem
import Testing

/// Watches and calls of one client share connections.
@Suite struct ManyWatchesTests {
  /// A watch on a thread of its own.
  private final class Watching: Sendable {
    private struct State {
      var values: [[UInt8]] = []
      var hasBegun = false
      var end: EtcdError?
    }

    private let state = PosixMutex(State())
    let cancellation = EtcdCancellation.test

    var values: [[UInt8]] { state.withLock { $0.values } }
    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    var end: EtcdError? { state.withLock { $0.end } }

    init(
      _ client: EtcdClient, _ prefix: String, from revision: Int64 = 1,
      each: @escaping @Sendable () -> Void = {}
    ) {
      Thread.detachNewThread { [self] in
        do {
          try client.watch(
            .prefix(bytes(prefix)), from: revision, cancellation: cancellation,
            began: { _ in state.withLock { $0.hasBegun = true } }
          ) { answer in
            state.withLock { $0.values += answer.events.map(\.row.value) }
            if !answer.events.isEmpty { each() }
          }
        } catch { state.withLock { $0.end = error as? EtcdError } }
      }
    }
  }

  private func wait(_ reason: String, until isMet: () -> Bool) {
    let deadline = Deadline.test
    while !isMet() {
      guard !deadline.hasPassed else {
        Issue.record("\(reason) did not happen")
        return
      }
      usleep(2000)
    }
  }

  /// Also those that come while others watch, and those that remain when others end.
  ///
  /// The gateway read only the first part of a long request, and some watches were never answered.
  @Test func eachWatchGetsItsOwnChanges() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let count = 120
    let watches = (0..<count).map { number in
      if number == count / 2 { usleep(200_000) }
      return Watching(client, "w\(number)/")
    }
    wait("the beginning of all") { watches.allSatisfy(\.hasBegun) }
    for number in 0..<count {
      _ = try client.put(bytes("w\(number)/a"), [UInt8(number)], deadline: .test)
    }
    wait("all changes") { watches.allSatisfy { !$0.values.isEmpty } }
    for (number, watch) in watches.enumerated() { #expect(watch.values == [[UInt8(number)]]) }
    for watch in watches.dropFirst() { watch.cancellation.cancel() }
    wait("the end of most") { watches.dropFirst().allSatisfy { $0.end?.code == .cancelled } }
    _ = try client.put(bytes("w0/a"), [200], deadline: .test)
    wait("another change") { watches[0].values == [[0], [200]] }
    #expect(watches[0].end == nil)
    watches[0].cancellation.cancel()
  }

  /// Nothing is lost or delivered twice when others make the connection begin anew.
  @Test func newWatchesLeaveNoGap() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let first = Watching(client, "w/")
    wait("the beginning") { first.hasBegun }
    var others: [Watching] = []
    for number in 0..<100 {
      _ = try client.put(bytes("w/k"), [UInt8(number)], deadline: .test)
      if number % 10 == 0 { others.append(Watching(client, "other\(number)/")) }
      usleep(3000)
    }
    wait("all changes") { first.values.count >= 100 }
    #expect(first.values == (0..<100).map { [UInt8($0)] })
    for watch in others + [first] { watch.cancellation.cancel() }
  }

  @Test func aSlowWatchEndsAlone() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let gate = DispatchSemaphore(value: 0)
    let slow = Watching(client, "slow/") { gate.wait() }
    let other = Watching(client, "other/")
    wait("the beginning") { slow.hasBegun && other.hasBegun }
    let value = [UInt8](repeating: 1, count: 1_000_000)
    for _ in 0..<11 { _ = try client.put(bytes("slow/a"), value, deadline: .test) }
    _ = try client.put(bytes("other/a"), [1], deadline: .test)
    wait("the other's change") { other.values == [[1]] }
    for _ in 0..<11 { gate.signal() }
    wait("the end") { slow.end != nil }
    #expect(slow.end?.code == .compacted)
    #expect(slow.values.count < 11)
    #expect(other.end == nil)
    other.cancellation.cancel()
  }

  @Test func aRefusedWatchEndsAlone() throws {
    let server = try EtcdServer()
    defer { server.end() }
    for _ in 0..<5 { _ = try server.client.put(bytes("w/a"), [1], deadline: .test) }
    try server.compact(5)
    try server.enableAuthentication()
    try server.addUser("fleet", password: "secret", prefix: "w/")
    var configuration = server.configuration
    configuration.user = "fleet"
    configuration.password = { Array("secret".utf8) }
    let client = EtcdClient(configuration)
    let good = Watching(client, "w/", from: 7)
    let denied = Watching(client, "x/", from: 7)
    let old = Watching(client, "w/old", from: 2)
    wait("both ends") { denied.end != nil && old.end != nil }
    #expect(denied.end?.code == .permissionDenied)
    #expect(old.end?.code == .compacted)
    wait("the beginning") { good.hasBegun }
    _ = try client.put(bytes("w/a"), [2], deadline: .test)
    wait("a change") { good.values == [[2]] }
    #expect(good.end == nil)
    good.cancellation.cancel()
  }

  /// As etcd 3.5 does with a token that it has forgotten.
  @Test func aWatchThatIsDeniedWhereReadingIsAllowedIsNotARefusal() throws {
    let server = try FakeServer { connection, _ in
      while let request = connection.request() {
        guard request.path == "/v3/watch" else {
          connection.answer("{\(FakeServer.header)}")
          continue
        }
        let denied =
          #""cancel_reason":"rpc error: code = PermissionDenied desc = etcdserver: permission denied""#
        return connection.watch([
          "\(FakeServer.header),\"created\":true,\"canceled\":true,\(denied)"
        ])
      }
    }
    let watching = Watching(server.client, "a/", from: 1)
    wait("the end") { watching.end != nil }
    #expect(watching.end?.code == .unreachable)
  }

  /// Who waits for a connection is bound by its own deadline, and gets one as soon as it is free.
  @Test func callsWaitForAConnection() throws {
    let (connections, gate) = (Counter(), DispatchSemaphore(value: 0))
    let server = try FakeServer { connection, _ in
      connections.add()
      while connection.request() != nil {
        gate.wait()
        gate.signal()
        connection.answer("{\(FakeServer.header)}")
      }
    }
    let client = server.client
    let done = Counter()
    for _ in 0..<20 {
      Thread.detachNewThread {
        _ = try? client.range(.one([1]), deadline: .test)
        done.add()
      }
    }
    wait("connections") { connections.value == 8 }
    let error = #expect(throws: EtcdError.self) {
      try client.range(.one([1]), deadline: Deadline(after: .milliseconds(50)))
    }
    #expect(error?.code == .timedOut)
    let cancellation = EtcdCancellation()
    cancellation.cancel()
    let cancelled = #expect(throws: EtcdError.self) {
      try client.range(.one([1]), deadline: .test, cancellation: cancellation)
    }
    #expect(cancelled?.code == .cancelled)
    gate.signal()
    wait("all answers") { done.value == 20 }
    #expect(connections.value == 8)
  }

  @Test func equalConfigurationsShareAClient() {
    var configuration = EtcdConfiguration(endpoints: [.init(host: "a", port: 1)], usesTLS: true)
    let first = EtcdClient.shared(configuration)
    #expect(EtcdClient.shared(configuration) === first)
    configuration.user = "fleet"
    configuration.password = { [] }
    let other = EtcdClient.shared(configuration)
    #expect(other !== first)
    // Nobody knows whether it is the same password.
    #expect(EtcdClient.shared(configuration) !== other)
    configuration.passwordSource = ["/etc/password"]
    let named = EtcdClient.shared(configuration)
    #expect(EtcdClient.shared(configuration) === named)
    configuration.passwordSource = ["/etc/other"]
    #expect(EtcdClient.shared(configuration) !== named)
    extendLifetime((first, other, named))
  }
}

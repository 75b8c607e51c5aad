import EtcdTesting
import Foundation
import PrephirencesSystem
import Testing

@testable import PrephirencesEtcd

/// Large contents, full databases, leases, and what many calls leave behind.
@Suite struct LimitTests {
  private func failure(_ body: () throws -> Void) -> EtcdError? {
    do { try body() } catch { return error as? EtcdError }
    return nil
  }

  @Test func aSnapshotHasAllRowsOfOneRevision() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    for start in stride(from: 0, to: 1000, by: 100) {
      _ = try client.perform(
        EtcdTransaction(
          success: (start..<start + 100).map {
            .put(key: bytes("s/\($0)"), value: bytes("\($0)"))
          }), deadline: .test)
    }
    var rows: [EtcdRow] = []
    var pages = 0
    let header = try client.snapshot(.prefix(bytes("s/")), pageLimit: 64, deadline: .test) { page in
      rows += page
      pages += 1
      // What changes meanwhile is not in it.
      _ = try client.put(bytes("s/999"), bytes("later"), deadline: .test)
      _ = try client.put(bytes("s/z\(pages)"), [], deadline: .test)
    }
    #expect(pages == 16 && rows.count == 1000)
    #expect(Set(rows.map(\.key)).count == 1000)
    #expect(rows.allSatisfy { $0.modRevision <= header.revision })
    #expect(rows.last?.value == bytes("999"))
  }

  @Test func largePagesAreReadInSmallerOnes() throws {
    let server = try EtcdServer()
    defer { server.end() }
    var configuration = server.configuration
    configuration.answerLimit = 100_000
    let client = EtcdClient(configuration)
    let value = [UInt8](repeating: 7, count: 20_000)
    for number in 0..<40 {
      _ = try client.put(bytes("s/\(number)"), value, deadline: .test)
    }
    var count = 0
    _ = try client.snapshot(.prefix(bytes("s/")), deadline: .test) { rows in
      count += rows.count
      #expect(rows.allSatisfy { $0.value == value })
    }
    #expect(count == 40)
  }

  @Test func tooLargeRequestsAreDistinguished() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    for count in [1_700_000, 3_000_000] {
      let value = [UInt8](repeating: 7, count: count)
      let error = failure { _ = try client.put([1], value, deadline: .test) }
      #expect(error?.code == .tooLarge && error?.mayHaveHappened == false)
    }
    let many = EtcdTransaction(success: (0..<129).map { .put(key: [UInt8($0)], value: []) })
    #expect(failure { _ = try client.perform(many, deadline: .test) }?.code == .tooLarge)
    let twice = EtcdTransaction(success: [.put(key: [1], value: []), .put(key: [1], value: [])])
    #expect(failure { _ = try client.perform(twice, deadline: .test) }?.code == .protocolViolation)
  }

  @Test func aFullDatabaseIsNotATooLargeRequest() throws {
    let server = try EtcdServer(arguments: ["--quota-backend-bytes", "200000"])
    defer { server.end() }
    let client = server.client
    var error: EtcdError?
    for number in 0..<50 where error == nil {
      error = failure {
        _ = try client.put([UInt8(number)], [UInt8](repeating: 7, count: 50_000), deadline: .test)
      }
    }
    #expect(error?.code == .noSpace && error?.mayHaveHappened == false)
    #expect(try client.range(.one([0]), deadline: .test).rows.count == 1)
  }

  @Test func leasesEndTheirRows() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let lease = try client.grantLease(seconds: 2, deadline: .test)
    _ = try client.put(bytes("l"), [1], lease: lease, deadline: .test)
    #expect(try client.range(.one(bytes("l")), deadline: .test).rows.map(\.lease) == [lease])
    let end = Deadline(after: .seconds(20))
    while try !client.range(.one(bytes("l")), deadline: .test).rows.isEmpty, !end.hasPassed {
      usleep(100_000)
    }
    #expect(try client.range(.one(bytes("l")), deadline: .test).rows.isEmpty)
  }

  @Test func aKilledNodeIsLeftForAnother() throws {
    let server = try EtcdServer(nodes: 3)
    defer { server.end() }
    let client = server.client
    _ = try client.put(bytes("a"), [1], deadline: .test)
    let leader = try #require(server.leader())
    server.kill(leader)
    // Meanwhile the cluster elects a leader; a change may fail, but never wrongly.
    while true {
      let error = failure { _ = try client.put(bytes("a"), [2], deadline: .test) }
      guard let error else { break }
      #expect(error.code == .unreachable || error.code == .timedOut)
    }
    #expect(try client.range(.one(bytes("a")), deadline: .test).rows.map(\.value) == [[2]])
  }

  /// In a process of its own, whose descriptors and libraries nobody else changes.
  @Test func nothingIsLoadedBeforeTheFirstCallAndNothingLeftBehind() async {
    await #expect(processExitsWith: .success) {
      func count(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).count
      }
      func maps() throws -> String {
        // Its size is told as 0.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        return String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
      }
      // The libraries of other tests may have it.
      let isLinked = try maps().contains("libcurl")
      let server = try EtcdServer()
      defer { server.end() }
      let client = server.client
      #expect(try maps().contains("libcurl") == isLinked, "loaded too early")
      _ = try client.put(bytes("a"), [1], deadline: .test)
      #expect(try maps().contains("libcurl"), "not loaded")
      let descriptors = try count("/proc/self/fd")
      let threads = try count("/proc/self/task")
      for _ in 0..<1000 { _ = try client.range(.one(bytes("a")), deadline: .test) }
      for _ in 0..<50 {
        let cancellation = EtcdCancellation()
        #expect(throws: EtcdError.self) {
          try client.watch(
            .one(bytes("a")), from: 1, cancellation: cancellation,
            began: { _ in cancellation.cancel() }, handler: { _ in })
        }
      }
      // The thread of the connection ends a moment later.
      for _ in 0..<500 where try count("/proc/self/fd") != descriptors { usleep(10_000) }
      #expect(try count("/proc/self/fd") == descriptors, "open files")
      #expect(try count("/proc/self/task") <= threads, "threads")
    }
  }

  @Test func aMissingLibraryIsReported() throws {
    let error = #expect(throws: EtcdError.self) { try Libcurl(["libnone.so.1"]) }
    #expect(error?.code == .noLibrary && error?.message.contains("libcurl4") == true)
    #expect(throws: EtcdError.self) { try Libcurl(["libc.so.6"]) }
    _ = try Libcurl(["libnone.so.1", "libcurl.so.4"])
  }
}

import EtcdTesting
import PrephirencesEtcd
import Testing

@Suite struct ClientTests {
  @Test func rowsArePutReadAndDeleted() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let put = try client.put(bytes("a/1"), [0, 255, 7], deadline: .test)
    _ = try client.put(bytes("a/2"), [], deadline: .test)
    let answer = try client.range(.prefix(bytes("a/")), deadline: .test)
    #expect(answer.rows.map(\.key) == [bytes("a/1"), bytes("a/2")])
    #expect(answer.rows.map(\.value) == [[0, 255, 7], []])
    #expect(answer.rows[0].modRevision == put.revision)
    #expect(answer.rows[0].version == 1)
    #expect(answer.count == 2 && !answer.hasMore)
    #expect(answer.header.clusterID != 0 && answer.header.revision == put.revision + 1)
    #expect(try client.delete(.one(bytes("a/1")), deadline: .test).count == 1)
    #expect(try client.range(.one(bytes("a/1")), deadline: .test).rows.isEmpty)
    let old = try client.range(.one(bytes("a/1")), revision: put.revision, deadline: .test)
    #expect(old.rows.map(\.value) == [[0, 255, 7]])
    #expect(client.isWithoutAuthentication == true)
  }

  @Test func transactionsCompareAndAnswer() throws {
    let server = try EtcdServer()
    defer { server.end() }
    let client = server.client
    let key = bytes("k")
    let first = EtcdTransaction(
      compares: [.absent(key)],
      success: [.put(key: key, value: [1]), .range(.one(key)), .delete(.one(bytes("other")))],
      failure: [.range(.one(key))])
    let won = try client.perform(first, deadline: .test)
    #expect(won.succeeded && won.responses.count == 3)
    let lost = try client.perform(first, deadline: .test)
    #expect(!lost.succeeded)
    guard case .range(let rows)? = lost.responses.first else {
      Issue.record("no range")
      return
    }
    #expect(rows.map(\.value) == [[1]])
    let compares: [EtcdCompare] = [
      .value(.one(key), .greater, [0]), .value(.one(key), .less, [1, 0]),
      .value(.one(key), .equal, [1]), .value(.one(key), .notEqual, [2]),
      .modified(.one(key), .equal, rows[0].modRevision), .version(.one(key), .equal, 1),
      .created(.one(key), .less, rows[0].createRevision + 1),
    ]
    #expect(
      try client.perform(
        EtcdTransaction(compares: compares, success: [.delete(.one(key))]), deadline: .test
      ).succeeded)
    #expect(try client.range(.one(key), deadline: .test).rows.isEmpty)
  }
}

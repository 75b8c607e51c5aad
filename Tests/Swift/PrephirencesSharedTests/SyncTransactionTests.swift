import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesShared
import Testing

@testable import PreferencesDurable
@testable import PreferencesShared
@testable import PrephirencesEtcd

@Suite("Transactions of units")
struct SyncTransactionTests {
  private static let layout = StoreLayout(prefix: "fleet/app/")
  private static let identity = StoreRow.newIdentity()
  private static let tag = WriterTag(Array(repeating: 0xFF, count: 16))

  /// The row of a key with a value of so many bytes.
  private static func row(_ key: String, _ count: Int, revision: Int64 = 7) -> SharedRow {
    let header: [UInt8] = [1, 3] + tag.bytes + Array(repeating: 0xFF, count: 24)
    return SharedRow(
      key: key, revision: revision, bytes: header + Array(repeating: 9, count: count))
  }

  private static func writerRow(_ number: Int64) -> [UInt8] {
    StoreRow.floor(number) + Array(repeating: UInt8(truncatingIfNeeded: number), count: 16)
  }

  private static func request(
    _ changes: [SharedBatch.Change], old: [UInt8]? = writerRow(4)
  ) -> BatchTransaction {
    BatchTransaction(
      layout: layout, identity: identity,
      batch: SharedBatch(
        writer: tag, number: 5, changes: changes, oldWriterRow: old, newWriterRow: writerRow(5),
        isTransaction: true))
  }

  @Test func namesOfRowsAreReadBack() {
    let layout = Self.layout
    #expect(String(decoding: layout.identity, as: UTF8.self) == "fleet/app/id")
    #expect(
      String(decoding: layout.writer(Self.tag), as: UTF8.self)
        == "fleet/app/w/" + String(repeating: "f", count: 32))
    #expect(layout.name(of: layout.identity) == .identity)
    #expect(layout.name(of: layout.floor) == .floor)
    #expect(layout.name(of: layout.writer(Self.tag)) == .writer(Self.tag))
    #expect(layout.name(of: layout.machine(Self.tag)) == .machine(Self.tag))
    #expect(layout.name(of: layout.prefix + Array("who/0".utf8)) == .unknown)
    #expect(layout.name(of: layout.key("a/b")) == .key("a/b"))
    #expect(layout.name(of: layout.key("")) == .key(""))
    #expect(layout.name(of: layout.prefix + Array("k/".utf8) + [0xFF]) == .unknown)
    #expect(layout.name(of: layout.prefix + Array("w/0".utf8)) == .unknown)
    #expect(layout.name(of: Array("fleet/apps/id".utf8)) == .unknown)
  }

  @Test func numbersOfRowsAreReadBack() {
    #expect(StoreRow.floor(StoreRow.floor(0x0102_0304_0506_0708)) == 0x0102_0304_0506_0708)
    #expect(StoreRow.floor([2] + StoreRow.floor(1).dropFirst()) == nil)
    #expect(WriterRow.number(Self.writerRow(300)) == 300)
    #expect(WriterRow.number([]) == nil && WriterRow.date([]) == nil)
    // A time that no clock has.
    #expect(WriterRow.date(Self.writerRow(-1)) == nil)
    let begin = Date(timeIntervalSinceNow: -1)
    let row = WriterRow.new(number: 7)
    #expect(WriterRow.number(row) == 7 && row.count == 25)
    #expect(WriterRow.date(row).map { $0 > begin && $0 <= Date() } == true)
    #expect(WriterRow.date([2] + row.dropFirst()) == nil)
    #expect(
      StoreIdentity.isIdentity(Self.identity) && !StoreIdentity.isIdentity([1])
        && StoreIdentity.isIdentity(Self.identity + [0, 0, 1] + [UInt8](repeating: 9, count: 5))
        && !StoreIdentity.isIdentity(Self.identity + [UInt8](repeating: 0x7F, count: 8)))
  }

  @Test func eachKeyIsComparedWithItsBase() {
    let small = Self.row("small", 10)
    let compares = Self.request([
      .init(row: Self.row("new", 1), base: .absent), .init(row: small, base: .row(small)),
    ]).transaction.compares
    #expect(
      compares == [
        .value(.one(Self.layout.identity), .equal, Self.identity),
        .value(.one(Self.layout.writer(Self.tag)), .equal, Self.writerRow(4)),
        .absent(Self.layout.key("new")),
        .value(.one(Self.layout.key("small")), .equal, small.bytes),
      ])
    #expect(
      Self.request([], old: nil).transaction.compares[1]
        == .absent(Self.layout.writer(Self.tag)))
  }

  @Test func headerOfLargeBaseIsCompared() throws {
    let large = Self.row("large", 5000)
    let compares = Self.request([.init(row: large, base: .row(large))]).transaction.compares
    let key = EtcdKeys.one(Self.layout.key("large"))
    // All of the tag and of the numbers are 0xFF: the next header has the next kind.
    let next: [UInt8] = [1, 4] + Array(repeating: 0, count: 40)
    #expect(
      Array(compares[2...]) == [
        .value(key, .greater, Array(large.bytes[..<42])), .value(key, .less, next),
      ])
  }

  @Test(arguments: [(120, 3000), (120, 8700), (60, 17_000), (1, 1 << 20), (2, 500_000)])
  func greatestUnitsFit(_ count: Int, _ size: Int) {
    let changes = (0..<count).map { index in
      let row = Self.row("key \(index)", size)
      return SharedBatch.Change(row: row, base: .row(row))
    }
    let transaction = Self.request(changes).transaction
    #expect(transaction.compares.count <= EtcdTransaction.limit)
    #expect(transaction.success.count <= EtcdTransaction.limit)
    #expect(transaction.failure.count <= EtcdTransaction.limit)
    #expect(Self.size(transaction) <= EtcdTransaction.greatestSize)
    let compared = Set(transaction.compares.map { Self.keys($0).key })
    #expect(changes.allSatisfy { compared.contains(Self.layout.key($0.row.key)) })
  }

  private static func keys(_ compare: EtcdCompare) -> EtcdKeys {
    switch compare {
    case .created(let keys, _, _), .modified(let keys, _, _), .version(let keys, _, _): keys
    case .value(let keys, _, _): keys
    }
  }

  private static func size(_ transaction: EtcdTransaction) -> Int {
    var size = 0
    for compare in transaction.compares {
      size += keys(compare).key.count + 20
      if case .value(_, _, let value) = compare { size += value.count }
    }
    for operation in transaction.success + transaction.failure {
      switch operation {
      case .put(let key, let value, _): size += key.count + value.count + 20
      case .range(let keys, _, _), .delete(let keys): size += keys.key.count + 20
      }
    }
    return size
  }

  // MARK: - Answers

  private static func answer(
    identity: [UInt8]? = identity, writer: (row: [UInt8], revision: Int64)?, keys: [Int64?]
  ) -> EtcdTransactionAnswer {
    let writers = writer.map {
      [EtcdRow(key: layout.writer(tag), value: $0.row, modRevision: $0.revision)]
    }
    let identities = identity.map { [EtcdRow(key: layout.identity, value: $0)] }
    let rows = keys.map { revision in
      EtcdTransactionAnswer.Response.range(
        revision.map { [EtcdRow(key: [], value: [], modRevision: $0)] } ?? [])
    }
    return EtcdTransactionAnswer(
      header: EtcdHeader(revision: 90), succeeded: false,
      responses: [.range(identities ?? []), .range(writers ?? [])] + rows)
  }

  @Test func answersAreUnderstood() {
    let base = Self.row("a", 1)
    let request = Self.request([
      .init(row: Self.row("a", 2), base: .row(base)), .init(row: Self.row("b", 2), base: .absent),
    ])
    let old = (row: Self.writerRow(4), revision: Int64(40))
    func outcome(_ answer: EtcdTransactionAnswer) -> BatchTransaction.Outcome {
      request.outcome(of: answer)
    }
    let performed = EtcdTransactionAnswer(
      header: EtcdHeader(revision: 90), succeeded: true, responses: [.put, .put, .put])
    #expect(outcome(performed) == .committed(90))
    // An earlier attempt was performed, and the store's identity may have changed since.
    let earlier = (row: Self.writerRow(5), revision: Int64(61))
    #expect(outcome(Self.answer(identity: nil, writer: earlier, keys: [61, 61])) == .committed(61))
    #expect(outcome(Self.answer(writer: old, keys: [50, 70])) == .changed(70))
    #expect(outcome(Self.answer(writer: old, keys: [50, nil])) == .changed(50))
    #expect(outcome(Self.answer(writer: old, keys: [nil, 70])) == .changed(nil))
    #expect(outcome(Self.answer(identity: nil, writer: old, keys: [1, 1])) == .foreign)
    #expect(
      outcome(Self.answer(identity: StoreRow.newIdentity(), writer: old, keys: [1, 1])) == .foreign)
    let other = (row: Self.writerRow(5) + [0], revision: Int64(61))
    #expect(outcome(Self.answer(writer: (Self.writerRow(9), 80), keys: [1, 1])) == .cloned)
    #expect(outcome(Self.answer(writer: (Self.writerRow(3), 30), keys: [1, 1])) == .restored)
    #expect(outcome(Self.answer(writer: nil, keys: [1, 1])) == .restored)
    #expect(outcome(Self.answer(writer: other, keys: [1, 1])) == .restored)
    #expect(outcome(Self.answer(writer: old, keys: [1])) == .malformed)
  }

  /// The same number with other random bytes is the batch of another file.
  @Test func sameNumberOfAnotherFileIsAClone() {
    var forged = Self.writerRow(5)
    forged[24] ^= 1
    let request = Self.request([])
    #expect(request.outcome(of: Self.answer(writer: (forged, 61), keys: [])) == .cloned)
  }
}

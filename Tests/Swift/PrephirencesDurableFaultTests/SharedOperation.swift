import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// An operation on a shared file that is run repeatedly; another call fails each time.
struct SharedOperation: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let sample: SharedSample

  /// Whether the file is open, and the batch or the conflict known, before calls fail.
  let isWarm: Bool

  let run: @Sendable (Subject) throws -> Void

  /// What an operation changes.
  struct Subject {
    let store: DurablePreferences
    let replica: SharedReplica
    let batch: SharedBatch?
    let conflict: ReplicaConflict?
  }

  struct Failed: Error {}

  private init(
    _ description: String, _ sample: SharedSample, warm: Bool = true,
    _ run: @escaping @Sendable (Subject) throws -> Void
  ) {
    testDescription = description
    self.sample = sample
    isWarm = warm
    self.run = run
  }

  /// Must be evaluated before calls fail.
  func subject(_ store: DurablePreferences) throws -> Subject {
    let replica = SharedReplica(store)
    guard isWarm else {
      return Subject(store: store, replica: replica, batch: nil, conflict: nil)
    }
    _ = try store.fetchObject(forKey: "k5")
    return Subject(
      store: store, replica: replica,
      batch: sample == .numbered ? try replica.nextBatch() : nil,
      conflict: sample == .conflicting ? try replica.conflicts().last : nil)
  }

  private static func settling(
    _ description: String,
    _ settle: @escaping @Sendable (SharedReplica, SharedBatch) throws -> Void
  ) -> Self {
    Self(description, .numbered) { subject in
      guard let batch = subject.batch else { throw Failed() }
      try settle(subject.replica, batch)
    }
  }

  private static func resolving(
    _ description: String, _ decision: @escaping @Sendable () -> ReplicaDecision
  ) -> Self {
    Self(description, .conflicting) { subject in
      guard let conflict = subject.conflict,
        try subject.replica.resolve(conflict, decision())
      else { throw Failed() }
    }
  }

  private static func applied(_ outcome: SnapshotOutcome) throws {
    guard outcome == .applied else { throw Failed() }
  }

  private static let arrivals: @Sendable (Subject) throws -> Void = { subject in
    try applied(
      subject.replica.apply([
        SharedRevision(
          revision: 30,
          changes: [
            .row(SharedSample.row("arrived", .data(Data(repeating: 4, count: 9000)), 30)),
            .row(SharedSample.row("shared", nil, 30)), .removed("k20"), .floor(3),
          ]),
        SharedSample.conflicts(at: 31),
      ]))
  }

  private static let snapshot: @Sendable (Subject) throws -> Void = { subject in
    try applied(
      subject.replica.apply(
        SharedSample.snapshot(
          40, ["k1", "k5", "arrived"].map { try SharedSample.row($0, "there", 40) })))
  }

  static let all: [Self] = [
    Self("share", .plain) { try $0.replica.share(SharingSettings()) },
    Self("share and open", .plain, warm: false) { try $0.replica.share(SharingSettings()) },
    Self("clear decisions", .conflicting) {
      try $0.replica.share(SharingSettings(), clearingDecisions: true)
    },
    Self("first snapshot", .fresh, snapshot),
    Self("snapshot", .unsent, warm: false, snapshot),
    Self("revisions", .unsent, arrivals),
    Self("revisions while a unit is numbered", .numbered, arrivals),
    settling("meet the numbered unit") { replica, batch in
      let rows = batch.changes.map { change in
        SharedRow(key: change.row.key, revision: 30, bytes: change.row.bytes)
      }
      let revision = SharedRevision(
        revision: 30,
        changes: [.writer(batch.writer, batch.newWriterRow)] + rows.map { .row($0) })
      try applied(replica.apply([revision]))
    },
    Self("next unit", .unsent) { _ = try $0.replica.nextBatch() },
    Self("next unit, and open", .unsent, warm: false) { _ = try $0.replica.nextBatch() },
    settling("next unit again") { replica, batch in
      guard try replica.nextBatch()?.contents == batch.contents else { throw Failed() }
    },
    settling("acknowledge") { try $0.acknowledge($1, revision: 30) },
    settling("reject") { try $0.reject($1) },
    settling("set aside") {
      try $0.setAside($1, keys: $1.changes.map(\.row.key), because: .permission, "refused")
    },
    resolving("take the shared value") { .takeShared },
    resolving("keep the local value") { .keepLocal },
    resolving("decide") { .set([("k3", "both"), ("elsewhere", 1)]) },
    Self("unshare", .numbered) { try $0.replica.unshare() },
    Self("set", .numbered) { try $0.store.storeObject("again", forKey: "k1") },
    Self("transaction", .unsent) { subject in
      try subject.store.transaction { _ in
        for key in ["k1", "k3", "k9"] { try subject.store.storeObject("unit", forKey: key) }
      }
    },
    Self("renew the writer", .numbered) { try $0.replica.renewWriter() },
    Self("adopt", .numbered) { try $0.replica.adopt(identity: [1, 2]) },
    Self("refuse changes", .unsent) { try $0.replica.setReadOnly(true) },
  ]
}

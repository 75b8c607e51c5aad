internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainVaultFormat

extension SeenRecord {
  /// Returns why the owner of this record refuses a head before it is unlocked; `nil` to accept it
  /// so far.
  func failure(of head: VaultHead, at path: String) throws(KeychainError) -> KeychainError? {
    guard id == head.id else { return .anotherVault(path) }
    if try leads(to: head) { return nil }
    if head.epoch < epoch { return .olderList(path) }
    return head.epoch == epoch ? .forked(path) : .anotherAdministration(path, try head.check())
  }

  /// Whether its administration key is the head's, or valid successions lead to it.
  func leads(to head: VaultHead) throws(KeychainError) -> Bool {
    guard id == head.id else { return false }
    if trusts(head.administration) { return true }
    return try Succession.lead(
      from: trusts, in: head.parts.successions, to: head.identity, trustingRecovery: recoveryKey)
  }
}

extension Seen {
  /// Returns why the owner of these records refuses a head before it is unlocked; `nil` to accept
  /// it so far.
  func failure(of head: VaultHead) throws(KeychainError) -> KeychainError? {
    for (path, record) in judging {
      if let failure = try record.failure(of: head, at: path) { return failure }
    }
    return nil
  }

  /// The records to compare a file with.
  ///
  /// A change of the administration key may have been seen under only one of the vault's paths. So
  /// an older record gets the key of the newest one that vouches, but keeps its history of the
  /// vault.
  var judging: [(path: String, record: SeenRecord)] {
    zip(paths, contents).compactMap { path, content in
      guard let old = content.record else { return nil }
      let newer = records.filter {
        $0.id == old.id && $0.proved[.unlocked] != nil && old.isOlder(than: $0)
      }
      guard let newest = newer.max(by: { $0.isOlder(than: $1) }) else { return (path, old) }
      var record = old
      record.administration = newest.administration
      record.nextAdministration = newest.nextAdministration
      record.recoveryKey = newest.recoveryKey
      return (path, record)
    }
  }

  /// Whether a record that was made with T2 leads to the administration key of a head; a record
  /// made with T0 alone proves nothing: a stolen device key gives T0.
  func vouches(for head: VaultHead) throws(KeychainError) -> Bool {
    for record in records where record.proved[.unlocked] != nil {
      if try record.leads(to: head) { return true }
    }
    return false
  }
}

/// The result of comparing a file with the seen record.
struct SeenRelation: Sendable {
  /// Why the file is refused.
  var failure: KeychainError?
  /// What a person should know about a file that isn't refused.
  var notices: [String] = []
  /// Whether the newest commit is newer than the record, so that it may not be durable.
  var isAhead = false
  /// Whether the file's history lacks a commit that the record has.
  var isFork = false
  /// Whether the file is an older state.
  var isOlder = false

  fileprivate mutating func note(_ notice: String) {
    if !notices.contains(notice) { notices.append(notice) }
  }
}

extension VaultContents {
  /// Compares the file with what this user has seen; every record may refuse it.
  ///
  /// See "What a reader has seen" in VaultReaders.
  func relation(to seen: Seen, _ keys: TierKeys) throws(KeychainError) -> SeenRelation {
    var all = SeenRelation()
    for (path, record) in seen.judging where all.failure == nil {
      let relation = try relation(to: record, at: path, keys)
      all.failure = relation.failure
      for notice in relation.notices { all.note(notice) }
      all.isAhead = all.isAhead || relation.isAhead
      (all.isFork, all.isOlder) = (relation.isFork, relation.isOlder)
    }
    guard seen.records.isEmpty else { return all }
    if base.n > list.first { _ = try spine.known(self, keys) }
    return SeenRelation(isAhead: true)
  }

  private func relation(
    to record: SeenRecord, at path: String, _ keys: TierKeys
  ) throws(KeychainError) -> SeenRelation {
    if let failure = try record.failure(of: head, at: path) {
      return SeenRelation(failure: failure)
    }
    guard list.epoch >= record.epoch, list.serial >= record.serial,
      list.epoch == record.epoch || list.serial > record.serial
    else { return SeenRelation(failure: .olderList(path), isOlder: true) }
    let isOtherList = try list.hash() != record.listHash
    guard list.serial > record.serial || !isOtherList else {
      return SeenRelation(failure: .forked(path), isFork: true)
    }
    let newest = SeenCommit(serial: list.serial, n: newest.n, digest: newest.digest)
    var relation = SeenRelation()
    relation.isAhead = record.proved[0].map { $0.isOlder(than: newest) } ?? true
    for case let seen? in record.proved where relation.failure == nil {
      try compare(seen, at: path, keys, &relation)
    }
    if record.nextAdministration != nil, head.administration == record.administration,
      relation.failure == nil, isOtherList || relation.isAhead
    {
      (relation.failure, relation.isFork) = (.forked(path), true)
    }
    return relation
  }

  private func compare(
    _ seen: SeenCommit, at path: String, _ keys: TierKeys, _ relation: inout SeenRelation
  ) throws(KeychainError) {
    guard seen.serial != list.serial || seen.n <= newest.n else {
      relation.isOlder = true
      relation.failure = .olderState(path, from: seen.n, to: newest.n)
      return
    }
    switch try has(seen.digest, at: seen.n, keys) {
    case true?: break
    case false? where list.accepted > seen.serial:
      relation.note(
        "the vault was put back to another state by somebody who administers it, and some of what "
          + "was seen here before is not in it")
    case false?: (relation.failure, relation.isFork) = (.forked(path), true)
    case nil:
      relation.note(
        "the vault was changed often since it was seen here, so nothing proves that its state "
          + "follows from the one seen")
    }
  }
}

extension KeychainError {
  static func anotherVault(_ path: String) -> Self {
    rolledBack("another vault is at \(path) than the one seen here before", put: "the right one")
  }

  static func anotherAdministration(_ path: String, _ check: VaultCheck) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) has another administration key than the one seen here before, and "
        + "nothing that is trusted here says that it changed; its check is \(check)",
      recovery:
        "ask who administers the vault; if \(.status) shows this check there, accept the vault "
        + "with \(.acceptChecked(check.description)); or put the right file back")
  }

  static func olderList(_ path: String) -> Self {
    rolledBack(
      "the vault \(path) was rolled back: its list of what opens it is older than the one seen "
        + "here before", put: "the newer file")
  }

  static func olderState(_ path: String, from seen: UInt64, to found: UInt64) -> Self {
    rolledBack(
      "the vault \(path) was rolled back: it is at change \(found), and was at \(seen) before",
      put: "the newer file")
  }

  static func forked(_ path: String) -> Self {
    rolledBack(
      "the vault \(path) was forked: two copies of it were changed, and this is not the one "
        + "that was seen here before", put: "the other copy")
  }

  private static func rolledBack(_ message: String, put file: String) -> Self {
    Self(
      .rolledBack, message,
      recovery: "put \(file) back, or accept this one with \(.acceptRestored)")
  }
}

extension SeenCommit {
  /// Whether another commit is newer, in the order of the serial of its list and its number.
  func isOlder(than other: SeenCommit) -> Bool { (serial, n) < (other.serial, other.n) }
}

extension SeenRecord {
  /// Whether another record of the same vault has seen more.
  func isOlder(than other: SeenRecord) -> Bool {
    let (own, others) = (proved[.open]?.n ?? 0, other.proved[.open]?.n ?? 0)
    return (epoch, serial, own) < (other.epoch, other.serial, others)
  }

  /// Takes what another record of the same vault has that is newer; `false` if nothing is.
  mutating func raise(by new: SeenRecord) -> Bool {
    let old = self
    let isNewer = (new.epoch, new.serial) > (epoch, serial)
    if isNewer || (nextAdministration == nil && (new.epoch, new.serial) == (epoch, serial)) {
      administration = new.administration
      recoveryKey = new.recoveryKey
      (epoch, serial, listHash) = (new.epoch, new.serial, new.listHash)
      nextAdministration = nil
    }
    for (index, commit) in new.proved.enumerated() {
      guard let commit, proved[index].map({ $0.isOlder(than: commit) }) ?? true else { continue }
      proved[index] = commit
    }
    return self != old
  }
}

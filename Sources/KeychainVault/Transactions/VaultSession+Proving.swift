internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension VaultSession {
  /// Checks what everything else in a transaction relies on: the macs of the head, the list of
  /// members, the state, and that none of them is older than what was seen here.
  func proven(
    _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) -> ProvenVault {
    try proven(rows, rows.topRows(), keys)
  }

  /// Returns what a transaction may rely on; `nil` if the keys are not those of the vault.
  ///
  /// `rereads` is whether the head and the list of members are read, even if the handle knows those
  /// of this state. A read relies on what it knows. A write that did would go on in a vault that
  /// nobody else can open any more.
  func proven(
    _ rows: any VaultRows, ownedBy keys: TierKeys, rereads: Bool
  ) throws(KeychainError) -> ProvenVault? {
    if !rereads, let known = try knownProven(rows, keys) { return known }
    let top = try rows.topRows()
    guard top.head.owns(keys) else { return nil }
    return try proven(rows, top, keys)
  }

  /// Returns what this handle has proved before, if the vault still has the same state; `nil` if all
  /// must be read.
  private func knownProven(
    _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) -> ProvenVault? {
    guard let known = knownHead.proofs.proven(with: try rows.stateBox(), keys) else { return nil }
    if let record = opened.seen.record {
      guard record.id == known.head.id, record.trusts(known.head.administration) else { return nil }
    }
    if let failure = listFailure(known.members) { throw failure }
    try requireNotOlder(known.chained, rows, keys)
    return known
  }

  func proven(
    _ rows: any VaultRows, _ top: TopRows, _ keys: TierKeys
  ) throws(KeychainError) -> ProvenVault {
    let successions = try rows.successions()
    let proofs = knownHead.proofs
    try proofs.requireMacs(of: keys, top.head, path: opened.path)
    try requireKnown(top.head, successions)
    let list = try proofs.list(
      top.members, keys.open.bytes, head: top.head, successions: successions,
      unlocked: knownHead.value)
    if let failure = listFailure(list) { throw failure }
    let chained = try proofs.chained(
      top.stateBox, keys.open.bytes, head: top.head, list: list)
    try requireNotOlder(chained, rows, keys)
    let proven = ProvenVault(
      head: top.head, members: list, chained: chained, trees: proofs.trees)
    proofs.note(proven, with: top.stateBox, keys)
    return proven
  }

  /// Rejects another vault than the one that was seen, and another administration key.
  func requireKnown(
    _ head: HeadRow, _ successions: [SuccessionRow]
  ) throws(KeychainError) {
    guard let record = opened.seen.record else { return }
    guard let failure = try record.failure(of: head, successions, at: opened.path) else { return }
    // Another process may have given the vault this key after the operation began.
    let now = opened.seenFile.read().record
    guard now?.id == head.id, now?.trusts(head.administration) == true else { throw failure }
  }

  /// Returns why the list of members is refused before the state is opened.
  ///
  /// A state belongs to its list. An older one is told as such, rather than as a state of another
  /// list.
  private func listFailure(_ list: MemberList) -> KeychainError? {
    guard let seen = opened.seen.record?.state,
      list.epoch < seen.epoch || list.serial < seen.serial
    else { return nil }
    return .olderList(opened.path)
  }

  private func requireNotOlder(
    _ chained: ChainedState, _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) {
    let found = SeenState(chained)
    guard let record = opened.seen.record else {
      guard found.counter > StateCounter.greatestAtFirstSight else { return }
      throw .tooManyChanges(opened.path, found.counter)
    }
    if let failure = record.failure(of: found, at: opened.path) { throw failure }
    guard record.relation(of: found) == .newer else { return }
    try requireChain(from: record, to: chained, rows, keys)
  }

  /// Checks that a newer state follows from the one that was seen, as far as the chain reaches.
  private func requireChain(
    from record: SeenRecord, to chained: ChainedState, _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) {
    let seen = record.state
    guard seen.counter >= chained.state.first else {
      report(
        "the vault was changed often since it was seen here, or accepted by a person, so nothing "
          + "proves that its state follows from the one seen")
      return
    }
    // New keys seal the chain again, so it is opened with the keys of now.
    let chain = try StateChain(
      rows, from: seen.counter, through: chained.state.counter, under: keys.open)
    guard try chain.leads(to: chained) else { throw .damagedChain }
    guard try chain.entries.first?.digest() == seen.digest else { throw .forked(opened.path) }
  }
}

/// Entries of the chain with consecutive counters.
struct StateChain {
  private(set) var entries: [ChainEntry] = []

  init(entries: [ChainEntry]) { self.entries = entries }

  /// Opens the entries of these counters; fails if one is missing.
  init(
    _ rows: any VaultRows, from first: UInt64, through last: UInt64, under open: SharedSecret
  ) throws(KeychainError) {
    let (start, end) = (Int64(ChainEntry.place(of: first)), Int64(ChainEntry.place(of: last)))
    var boxes: [Int64: Data]
    if start <= end {
      boxes = try rows.chainBoxes(start...end)
    } else {
      boxes = try rows.chainBoxes(0...end)
      boxes.merge(try rows.chainBoxes(start...Int64(ChainEntry.length))) { old, _ in old }
    }
    for counter in first...last {
      guard let box = boxes[Int64(ChainEntry.place(of: counter))],
        let entry = try ChainEntry.open(box, counter: counter, under: open.bytes)
      else { throw .damagedChain }
      entries.append(entry)
    }
  }

  /// Whether each entry follows from the one before, and the last one is the state's.
  func leads(to chained: ChainedState) throws(KeychainError) -> Bool {
    guard let last = entries.last, last == (try ChainEntry(chained)) else { return false }
    for (old, new) in zip(entries, entries.dropFirst()) {
      guard new.previous == (try old.digest()) else { return false }
    }
    return true
  }
}

internal import Prephirences

extension ReplicaTransaction {
  /// Compares everything that the engine has with the shadow.
  ///
  /// - Parameters:
  ///   - snapshot: What the engine has.
  ///   - known: The state before it was read; `nil` if nothing is sent meanwhile.
  /// - Returns: The outcome.
  /// - Throws: ``PreferencesError``.
  func apply(
    _ snapshot: SharedSnapshot, since known: SharingState?
  ) throws(PreferencesError) -> SnapshotOutcome {
    guard let identity = snapshot.identity, sync.identity ?? identity == identity else {
      return .foreign
    }
    sync.identity = identity
    let outcome = try meetWriter(of: snapshot, since: known)
    guard outcome == .applied else { return outcome }
    try acknowledgeLateUnits(snapshot.rows, snapshot.writers, snapshot.revision)
    let seen = try writers()
    var shadows = try allShadows()
    var news: [News] = []
    for row in snapshot.rows {
      let key = KeyBytes(row.key)
      let known = shadows.removeValue(forKey: key)
      if let known, known.bytes == row.bytes {
        if known.revision != row.revision { try setShadow(row, of: key) }
      } else {
        news.append(try compare(row, with: known, key, seen, snapshot))
      }
    }
    for (key, known) in shadows { news.append(try miss(known, key, snapshot)) }
    try meet(news)
    for row in snapshot.rows {
      if let writer = row.writer, let number = row.number { try note(number, of: writer) }
    }
    for (tag, row) in snapshot.writers {
      if let number = WriterRow.number(row) { try note(number, of: tag) }
    }
    sync.revision = snapshot.revision
    sync.arrival = .serverChange
    return .applied
  }

  /// Finds out what the engine has of this writer.
  private func meetWriter(
    of snapshot: SharedSnapshot, since known: SharingState?
  ) throws(PreferencesError) -> SnapshotOutcome {
    let row = snapshot.writers[sync.writer]
    guard row != sync.writerRow else { return .applied }
    if row == sync.newWriterRow, try isInFlight() {
      try acknowledge(revision: snapshot.revision)
      return .applied
    }
    // The sender has heard of a later unit since.
    if let known, known.writerRow != sync.writerRow { return .outdated }
    let number = sync.writerRow.flatMap(WriterRow.number) ?? 0
    guard row.flatMap(WriterRow.number) ?? 0 < number else { return .cloned }
    // The engine was restored: units were lost.
    try forgetWriterRow(row, snapshot.revision)
    return .applied
  }

  /// A row differs from what the engine had.
  private func compare(
    _ row: SharedRow, with known: SharedRow?, _ key: KeyBytes, _ seen: [WriterTag: Writer],
    _ snapshot: SharedSnapshot
  ) throws(PreferencesError) -> News {
    let lost = known.flatMap { known in
      Self.isOwn(known, seen) && Self.isLost(known, snapshot) ? known : nil
    }
    // Everything up to that number of its writer was received before, so this is older than what the
    // engine had: it was restored. But what has a later revision than that was written since, by a
    // writer that was restored, too, and gives numbers again.
    let isOlder =
      if let writer = row.writer, let number = row.number, let last = seen[writer]?.number {
        number <= last && row.revision <= known?.revision ?? sync.revision
      } else {
        false
      }
    // An own change that the engine has lost is sent again, before what is unsent; if the key was
    // changed since, that is decided as if it had not been sent.
    if let lost, let value = Self.readable(lost) {
      switch try firstUnit(of: key) {
      case nil: try log(value.value, for: key)
      // What replaces it is based on it alone.
      case Self.loose: break
      case .some: try logFirst(value.value, for: key)
      }
    }
    return try take(row, of: key, isOlder: isOlder)
  }

  /// The engine has no row any more.
  private func miss(
    _ known: SharedRow, _ key: KeyBytes, _ snapshot: SharedSnapshot
  ) throws(PreferencesError) -> News {
    guard case .value(_?) = known.form, sync.revision < snapshot.floor,
      !Self.isLost(known, snapshot)
    else { return try lose(known, key) }
    // The removal was collected while this machine was away.
    return try take(nil, of: key)
  }

  private static func isOwn(_ row: SharedRow, _ seen: [WriterTag: Writer]) -> Bool {
    row.writer.flatMap { seen[$0]?.isOwn } ?? false
  }

  /// Whether the engine does not know that this row was ever written.
  private static func isLost(_ row: SharedRow, _ snapshot: SharedSnapshot) -> Bool {
    guard let writer = row.writer, let number = row.number else { return false }
    // The engine forgets those.
    if writer.isForgotten, snapshot.writers[writer] == nil { return false }
    return snapshot.writers[writer].flatMap(WriterRow.number) ?? 0 < number
  }
}

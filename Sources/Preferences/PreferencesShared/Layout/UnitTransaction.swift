package import PreferencesDurable
package import PrephirencesEtcd

/// A unit as a transaction of the engine, which performs it only if nothing has changed meanwhile.
package struct UnitTransaction: Sendable {
  package let layout: StoreLayout
  package let identity: [UInt8]
  package let unit: SharedUnit

  package init(layout: StoreLayout, identity: [UInt8], unit: SharedUnit) {
    self.layout = layout
    self.identity = identity
    self.unit = unit
  }

  /// Rows up to this size are compared whole.
  static let greatestWholeRow = 2048

  /// The form, kind, tag and number of a row, by which it differs from all others.
  static let headerCount = 26

  /// What one compare or operation adds to a request beside keys and values.
  private static let overhead = 64

  package var transaction: EtcdTransaction {
    let writer = layout.writer(unit.writer)
    var success = [EtcdOperation.put(key: writer, value: unit.newWriterRow)]
    var failure = [EtcdOperation.range(.one(layout.identity)), .range(.one(writer))]
    for change in unit.changes {
      let key = layout.key(change.row.key)
      success.append(.put(key: key, value: change.row.bytes))
      failure.append(.range(.one(key), keysOnly: true))
    }
    return EtcdTransaction(compares: compares(writer), success: success, failure: failure)
  }

  private func compares(_ writer: [UInt8]) -> [EtcdCompare] {
    var compares: [EtcdCompare] = [
      .value(.one(layout.identity), .equal, identity),
      unit.oldWriterRow.map { .value(.one(writer), .equal, $0) } ?? .absent(writer),
    ]
    var large: [SharedRow] = []
    for change in unit.changes {
      switch change.base {
      case .absent: compares.append(.absent(layout.key(change.row.key)))
      case .row(let row) where row.bytes.count <= Self.greatestWholeRow:
        compares.append(.value(.one(layout.key(row.key)), .equal, row.bytes))
      case .row(let row): large.append(row)
      }
    }
    large.sort { $0.bytes.count > $1.bytes.count }
    // Each key has at least one of the compares.
    let pairs = max(0, min(large.count, EtcdTransaction.limit - 2 - unit.changes.count))
    for row in large[..<pairs] { compares += headerCompares(row) }
    var rest = EtcdTransaction.greatestSize - size(of: compares)
    for row in large[pairs...] {
      let key = EtcdKeys.one(layout.key(row.key))
      if rest > row.bytes.count + Self.overhead {
        compares.append(.value(key, .equal, row.bytes))
        rest -= row.bytes.count + Self.overhead
      } else {
        compares.append(.modified(key, .equal, row.revision))
      }
    }
    return compares
  }

  /// Compares that only rows with the same header pass.
  private func headerCompares(_ row: SharedRow) -> [EtcdCompare] {
    let key = EtcdKeys.one(layout.key(row.key))
    let header = Array(row.bytes.prefix(Self.headerCount))
    var next = header
    var index = next.count - 1
    while index > 0, next[index] == 0xFF {
      next[index] = 0
      index -= 1
    }
    next[index] += 1
    return [.value(key, .greater, header), .value(key, .less, next)]
  }

  /// About how large the request is with these compares and all puts.
  private func size(of compares: [EtcdCompare]) -> Int {
    // Every key is in a compare, a put and a range.
    let keys = unit.changes.reduce(0) { $0 + 3 * (layout.prefix.count + $1.row.key.utf8.count + 2) }
    let rows = unit.changes.reduce(0) { $0 + $1.row.bytes.count }
    let compared = compares.reduce(0) { size, compare in
      if case .value(_, _, let value) = compare { size + value.count } else { size }
    }
    let count = 2 * EtcdTransaction.limit + compares.count
    return keys + rows + compared + count * Self.overhead
  }

  // MARK: - Answer

  /// What an answer says of the unit.
  package enum Outcome: Hashable, Sendable {
    /// The engine has the unit, since this revision.
    case committed(Int64)
    /// A key has changed, at the latest in this revision; `nil` if that is not known.
    case changed(Int64?)
    /// The store has another identity, or none.
    case foreign
    /// Another file writes with this tag.
    case cloned
    /// The engine has an older state than it had.
    case restored
    /// The answer has not the rows that were asked for.
    case malformed
  }

  package func outcome(of answer: EtcdTransactionAnswer) -> Outcome {
    if answer.succeeded { return .committed(answer.header.revision) }
    guard answer.responses.count == unit.changes.count + 2,
      case .range(let identities) = answer.responses[0],
      case .range(let writers) = answer.responses[1]
    else { return .malformed }
    let writer = writers.first
    if let writer, writer.value == unit.newWriterRow { return .committed(writer.modRevision) }
    guard identities.first?.value == identity else { return .foreign }
    guard writer?.value == unit.oldWriterRow else {
      let number = writer.flatMap { WriterRow.number($0.value) } ?? 0
      let old = unit.oldWriterRow.flatMap { WriterRow.number($0) } ?? 0
      return number < old ? .restored : .cloned
    }
    var last: Int64? = 0
    for (change, response) in zip(unit.changes, answer.responses.dropFirst(2)) {
      guard case .range(let rows) = response else { return .malformed }
      if let row = rows.first {
        last = last.map { max($0, row.modRevision) }
      } else if case .row = change.base {
        last = nil
      }
    }
    return .changed(last)
  }
}

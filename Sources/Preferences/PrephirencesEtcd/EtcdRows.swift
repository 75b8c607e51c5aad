/// A row of etcd's store.
package struct EtcdRow: Hashable, Sendable {
  package var key: [UInt8]
  package var value: [UInt8]
  package var createRevision: Int64 = 0
  package var modRevision: Int64 = 0
  package var version: Int64 = 0
  package var lease: Int64 = 0
}

/// One key, or the keys from `key` to before `end`.
package struct EtcdKeys: Hashable, Sendable {
  package let key: [UInt8]
  package let end: [UInt8]?

  package static func one(_ key: [UInt8]) -> Self { Self(key: key, end: nil) }
  package static func from(_ key: [UInt8], to end: [UInt8]) -> Self { Self(key: key, end: end) }
  /// All keys that begin with the prefix, which is not empty.
  package static func prefix(_ prefix: [UInt8]) -> Self {
    var end = prefix
    while let last = end.last, last == 0xFF { end.removeLast() }
    guard let last = end.last else { return Self(key: prefix, end: [0]) }
    end[end.count - 1] = last + 1
    return Self(key: prefix, end: end)
  }

  func contains(_ other: [UInt8]) -> Bool {
    guard let end else { return other == key }
    // A zero byte stands for the end of all keys.
    return !other.lexicographicallyPrecedes(key)
      && (end == [0] || other.lexicographicallyPrecedes(end))
  }
}

/// What every answer says of the cluster.
package struct EtcdHeader: Hashable, Sendable {
  package var clusterID: UInt64 = 0
  package var memberID: UInt64 = 0
  package var revision: Int64 = 0
}

package struct EtcdRangeAnswer: Sendable {
  package var header: EtcdHeader
  package var rows: [EtcdRow]
  /// All rows of the range, also those after a limit.
  package var count: Int64
  package var hasMore: Bool
}

package enum EtcdCompare: Hashable, Sendable {
  package enum Relation: Hashable, Sendable { case equal, notEqual, greater, less }

  case created(EtcdKeys, Relation, Int64)
  case modified(EtcdKeys, Relation, Int64)
  case version(EtcdKeys, Relation, Int64)
  case value(EtcdKeys, Relation, [UInt8])

  package static func absent(_ key: [UInt8]) -> Self { .created(.one(key), .equal, 0) }
}

package enum EtcdOperation: Hashable, Sendable {
  case put(key: [UInt8], value: [UInt8], lease: Int64 = 0)
  /// With `keysOnly`, the rows come without their values; with a revision, as they were then.
  case range(EtcdKeys, keysOnly: Bool = false, revision: Int64 = 0)
  case delete(EtcdKeys)
}

package struct EtcdTransaction: Hashable, Sendable {
  package var compares: [EtcdCompare]
  package var success: [EtcdOperation]
  package var failure: [EtcdOperation]

  /// The greatest number of compares, and of operations of each branch.
  package static let limit = 128
  /// The greatest request with etcd's own settings, in bytes before base64.
  package static let greatestSize = 1_572_864

  /// Whether it changes nothing, so that it can be sent again.
  var isReadOnly: Bool {
    (success + failure).allSatisfy { if case .range = $0 { true } else { false } }
  }

  package init(
    compares: [EtcdCompare] = [], success: [EtcdOperation] = [], failure: [EtcdOperation] = []
  ) {
    self.compares = compares
    self.success = success
    self.failure = failure
  }
}

package struct EtcdTransactionAnswer: Sendable {
  package enum Response: Sendable {
    case put
    case range([EtcdRow])
    case delete(count: Int64)
  }

  package var header: EtcdHeader
  package var succeeded: Bool
  /// One for each operation of the branch that was performed.
  package var responses: [Response]
}

/// The changes of one answer of a watch: those of a revision are never divided between two.
package struct EtcdEvents: Sendable {
  package struct Event: Sendable {
    package var row: EtcdRow
    /// Then the row has the key, and the revision of the removal in `modRevision`.
    package var isRemoval: Bool
  }

  /// Its revision: everything up to it has been delivered if `events` is empty (a progress notice).
  package var header: EtcdHeader
  package var events: [Event]
}

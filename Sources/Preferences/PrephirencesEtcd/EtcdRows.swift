/// A row of etcd's store.
package struct EtcdRow: Hashable, Sendable {
  package var key: [UInt8]
  package var value: [UInt8]
  package var createRevision: Int64 = 0
  package var modRevision: Int64 = 0
  package var version: Int64 = 0
  package var lease: Int64 = 0
}

/// One key, or the keys from `key` up to, but without, `end`.
package struct EtcdKeys: Hashable, Sendable {
  package let key: [UInt8]
  package let end: [UInt8]?

  package static func one(_ key: [UInt8]) -> Self { Self(key: key, end: nil) }
  package static func from(_ key: [UInt8], to end: [UInt8]) -> Self { Self(key: key, end: end) }
  /// All keys with a prefix, which must not be empty.
  package static func prefix(_ prefix: [UInt8]) -> Self {
    var end = prefix
    while let last = end.last, last == 0xFF { end.removeLast() }
    guard let last = end.last else { return Self(key: prefix, end: [0]) }
    end[end.count - 1] = last + 1
    return Self(key: prefix, end: end)
  }

  func contains(_ other: [UInt8]) -> Bool {
    guard let end else { return other == key }
    // A zero byte means up to the end of all keys.
    return !other.lexicographicallyPrecedes(key)
      && (end == [0] || other.lexicographicallyPrecedes(end))
  }
}

/// What each answer says of the cluster.
package struct EtcdHeader: Hashable, Sendable {
  package var clusterID: UInt64 = 0
  package var memberID: UInt64 = 0
  package var revision: Int64 = 0
}

package struct EtcdRangeAnswer: Sendable {
  package var header: EtcdHeader
  package var rows: [EtcdRow]
  /// The number of rows in the range, also those beyond a limit.
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
  /// With `keysOnly`, rows come without values; with a revision, as they were then.
  case range(EtcdKeys, keysOnly: Bool = false, revision: Int64 = 0)
  case delete(EtcdKeys)
}

package struct EtcdTransaction: Hashable, Sendable {
  package var compares: [EtcdCompare]
  package var success: [EtcdOperation]
  package var failure: [EtcdOperation]

  /// The greatest number of compares, and of operations in each branch.
  package static let limit = 128
  /// The greatest request with etcd's default settings, in bytes before base64.
  package static let greatestSize = 1_572_864

  /// Whether it only reads, so that it can be sent again.
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
  /// One response for each operation of the branch that was performed.
  package var responses: [Response]
}

/// The changes in one answer of a watch; those of a revision are never split.
package struct EtcdEvents: Sendable {
  package struct Event: Sendable {
    package var row: EtcdRow
    /// If true, the row has the key, and the revision of the removal in `modRevision`.
    package var isRemoval: Bool
  }

  /// If `events` is empty (a progress notice), everything up to its revision has been delivered.
  package var header: EtcdHeader
  package var events: [Event]
}

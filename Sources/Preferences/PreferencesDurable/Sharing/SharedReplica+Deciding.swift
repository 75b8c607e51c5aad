package import Prephirences

extension SharedReplica {
  /// The units that wait for a decision, the oldest first.
  ///
  /// Those that are based on a listed one are a part of that.
  package func conflicts() throws(PreferencesError) -> [ReplicaConflict] {
    try change { transaction in
      guard try !transaction.units(in: .conflict).isEmpty else { return [] }
      return try transaction.conflicts().map { try ReplicaConflict($0) }
    }
  }

  /// Decides a conflict.
  ///
  /// - Returns: `false` if something has changed since; then ask again.
  package func resolve(
    _ conflict: ReplicaConflict, _ decision: ReplicaDecision
  ) throws(PreferencesError) -> Bool {
    var decided: [KeyBytes: StoredValue?] = [:]
    if case .set(let values) = decision {
      for (key, value) in values {
        let stored = try unwrapped(value).map { value throws(PreferencesError) in
          try ValueEncoder.encode(value, forKey: key)
        }
        decided[KeyBytes(key)] = .some(stored)
      }
    }
    return try change { transaction in
      guard let found = try transaction.find(conflict) else { return false }
      switch decision {
      case .takeShared: try transaction.takeShared(found)
      case .keepLocal: try transaction.keepLocal(found)
      case .set: try transaction.decide(found, decided)
      }
      transaction.write.wakesOthers = true
      return true
    }
  }

  /// Records why a conflict was not decided.
  package func postpone(
    _ conflict: ReplicaConflict, _ message: String
  ) throws(PreferencesError) {
    try change { transaction in
      guard let found = try transaction.find(conflict) else { return }
      try transaction.set(.conflict, of: found.unit.id, message)
    }
  }
}

extension ReplicaTransaction {
  /// Returns a conflict as it is now, if nothing has changed since it was listed.
  fileprivate func find(_ conflict: ReplicaConflict) throws(PreferencesError) -> Conflict? {
    // Programs decide the oldest first, so most of the time there is only one to look at.
    try conflicts(upTo: conflict.unit).first { $0.token == conflict.token }
  }
}

extension ReplicaTransaction.Conflict {
  /// Everything that a decision depends on.
  fileprivate var token: [UInt8] {
    var token = BigEndian.bytes(unit.id)
    func append(_ bytes: [UInt8]) { token += BigEndian.bytes(Int64(bytes.count)) + bytes }
    for change in dependents.changes.sorted(by: Self.isBefore) {
      token += BigEndian.bytes(change.unit) + [change.value?.kind.rawValue ?? 0]
      append(change.key.bytes)
      append(change.value?.bytes ?? [])
      append(shared[change.key]?.bytes ?? [])
    }
    return token
  }

  private static func isBefore(_ one: LoggedChange, _ other: LoggedChange) -> Bool {
    one.unit == other.unit
      ? one.key.bytes.lexicographicallyPrecedes(other.key.bytes) : one.unit < other.unit
  }
}

extension ReplicaConflict {
  fileprivate init(_ conflict: ReplicaTransaction.Conflict) throws(PreferencesError) {
    let values = try conflict.dependents.keys.map { key throws(PreferencesError) in
      let shared = ReplicaTransaction.readable(conflict.shared[key])?.value
      return Value(
        key: key.text,
        local: try conflict.local[key].map { value throws(PreferencesError) in
          try value.decoded(forKey: key)
        },
        shared: shared.flatMap { $0 }.flatMap(ValueDecoder.decode))
    }
    self.init(
      values: values, isTransaction: conflict.dependents.isTransaction,
      message: conflict.message.isEmpty ? nil : conflict.message, unit: conflict.unit.id,
      token: conflict.token)
  }
}

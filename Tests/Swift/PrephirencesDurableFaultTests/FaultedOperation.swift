import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// An operation on a suite that is run repeatedly; another call fails each time.
struct FaultedOperation: Sendable, CustomTestStringConvertible {
  let testDescription: String

  /// Whether the file exists.
  let isOnExistingFile: Bool

  /// Whether the store has read before.
  let isWarm: Bool

  /// Whether the file is used as on a network, where each commit is synchronized.
  let isOnNetwork: Bool

  /// Whether a failure says nothing of the values, because it may be that of the synchronization.
  let synchronizes: Bool

  /// The operation; it must return the same text whenever it succeeds.
  let run: @Sendable (DurablePreferences) throws -> String

  private init(
    _ description: String, existing: Bool = true, warm: Bool = false, network: Bool = false,
    synchronizes: Bool = false, _ run: @escaping @Sendable (DurablePreferences) throws -> String
  ) {
    testDescription = description
    isOnExistingFile = existing
    isWarm = warm
    isOnNetwork = network
    self.synchronizes = synchronizes
    self.run = run
  }

  private static func set(
    _ key: String, _ value: PreferenceObject?
  ) -> @Sendable (DurablePreferences) throws -> String {
    nonisolated(unsafe) let value = value
    return { store in
      try store.storeObject(value, forKey: key)
      return "set"
    }
  }

  static let writes: [Self] = [
    Self("first set", existing: false, set("new", 1)),
    Self("create", existing: false) { store in
      try store.open()
      return "open"
    },
    Self("set", set("new", 1)),
    Self("set in an open store", warm: true, set("new", 1)),
    Self("overwrite", warm: true, set("k3", "changed")),
    Self("set a long value", warm: true, set("long", Data(repeating: 1, count: 50_000))),
    Self("remove", warm: true, set("k3", nil)),
    Self("transaction") { store in
      try store.transaction { _ in
        for number in 0..<40 { try store.storeObject("changed", forKey: "k\(number)") }
        try store.storeObject(nil, forKey: "k50")
      }
      return "changed"
    },
    Self("update", warm: true) { store in
      try store.update(DurablePreferences.Key<Int>("k7", default: 0)) { $0 += 1 }
      return "updated"
    },
    Self("checkpoint", warm: true) { store in
      try store.checkpoint()
      return "checkpoint"
    },
    Self("set on a network", warm: true, network: true, set("new", 1)),
    Self("synchronize", warm: true, synchronizes: true) { store in
      try store.synchronize()
      return "synchronized"
    },
    Self("set and synchronize", synchronizes: true) { store in
      try store.storeObject(1, forKey: "new")
      try store.synchronize()
      return "synchronized"
    },
  ]

  static let reads: [Self] = [
    Self("get") { "\(String(describing: try $0.fetchObject(forKey: "k3")))" },
    Self("get an absent key") { "\(String(describing: try $0.fetchObject(forKey: "absent")))" },
    Self("get in an open store", warm: true) {
      "\(String(describing: try $0.fetchObject(forKey: "k5")))"
    },
    Self("read all") { store in
      let all = store.dictionary()
      if let error = store.lastError { throw error }
      return "\(all.map { "\($0) \($1)" }.sorted())"
    },
    Self("open") { store in
      try store.open()
      return "open"
    },
    Self("get without throwing") { store in
      let value = store.object(forKey: "k3")
      if let error = store.lastError { throw error }
      return "\(String(describing: value))"
    },
  ]
}

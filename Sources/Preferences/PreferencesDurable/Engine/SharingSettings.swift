/// How a file is shared.
package struct SharingSettings: Hashable, Sendable, Codable {
  package var quota = SharingQuota()
  /// Whether conflicts wait for a program that decides them; otherwise the engine's order wins.
  package var programDecides = false
  /// Where the file is shared: a text that differs for different configurations.
  package var place: String?
  package init() {}
}

/// What a shared store may hold, checked when this machine writes.
///
/// Only what adds keys or bytes is refused: what others have written may exceed the quota.
package struct SharingQuota: Hashable, Sendable, Codable {
  package var keys = 1024
  /// Of all keys and values.
  package var bytes = 1 << 20
  package var valueBytes = 1 << 20
  package var keyBytes = 64
  package init() {}
}

/// What the changes of one transaction may be, since they are sent as one.
enum UnitLimit {
  static let keys = 120
  static let bytes = 1 << 20

  /// What a row has before its value.
  static let rowHeader = 26
}

package import PreferencesDurable
package import Prephirences
package import PrephirencesEtcd

/// Where the rows of a store are in the engine.
///
/// | key | has |
/// | --- | --- |
/// | `PREFIX` `id` | the identity of the store: the form 1 and 16 random bytes |
/// | `PREFIX` `floor` | the form 1 and the revision of the last removal that was collected, 8 bytes |
/// | `PREFIX` `w/` tag in hexadecimal | the last unit of a writer, as ``WriterRow`` has it; of one without a copy, whose tag begins with 00, for a day |
/// | `PREFIX` `k/` key in UTF-8 | the value of a key, as ``SharedRow`` has it |
/// | `PREFIX` `who/` tag in hexadecimal | what the machine of a writer says of itself, as ``MachineRow`` has it |
package struct StoreLayout: Hashable, Sendable {
  /// What all keys of the store begin with; it ends with a slash.
  package let prefix: [UInt8]

  package init(prefix: String) { self.prefix = Array(prefix.utf8) }

  /// Everything that machines follow.
  ///
  /// The rows `who/` come after it, so that a machine that says it is there wakes no other.
  package var all: EtcdKeys { .from(prefix, to: prefix + Array("w0".utf8)) }

  /// The rows of all keys.
  package var values: EtcdKeys { .prefix(key("")) }

  /// The rows of all writers.
  package var writers: EtcdKeys { .prefix(prefix + Self.writers) }

  /// The rows of all machines.
  package var machines: EtcdKeys { .prefix(prefix + Self.machines) }

  package var identity: [UInt8] { prefix + Array("id".utf8) }
  package var floor: [UInt8] { prefix + Array("floor".utf8) }

  package func writer(_ tag: WriterTag) -> [UInt8] {
    prefix + Self.writers + Array(tag.hexadecimal.utf8)
  }

  package func machine(_ tag: WriterTag) -> [UInt8] {
    prefix + Self.machines + Array(tag.hexadecimal.utf8)
  }

  package func key(_ key: PreferenceKey) -> [UInt8] { prefix + Self.keys + Array(key.utf8) }

  /// What a key of the engine is for.
  package enum Name: Hashable, Sendable {
    case identity
    case floor
    case writer(WriterTag)
    case machine(WriterTag)
    case key(PreferenceKey)
    /// No row of this release: it stays as it is.
    case unknown
  }

  package func name(of key: [UInt8]) -> Name {
    guard key.starts(with: prefix) else { return .unknown }
    let rest = key.dropFirst(prefix.count)
    if rest.starts(with: Self.keys) {
      let bytes = rest.dropFirst(Self.keys.count)
      guard let text = String(validating: bytes, as: UTF8.self) else { return .unknown }
      return .key(text)
    }
    if rest.starts(with: Self.writers) {
      return WriterTag(hexadecimal: rest.dropFirst(Self.writers.count)).map { .writer($0) }
        ?? .unknown
    }
    if rest.starts(with: Self.machines) {
      return WriterTag(hexadecimal: rest.dropFirst(Self.machines.count)).map { .machine($0) }
        ?? .unknown
    }
    if key == identity { return .identity }
    return key == floor ? .floor : .unknown
  }

  /// Says who has no rights, which etcd leaves out.
  func noRights(of user: String?) -> String {
    "\(Self.subject(user)) has no rights to '\(text)' (any more); etcd's operator grants them"
  }

  /// Says who may read, but not change.
  func noChange(by user: String?) -> String {
    "\(Self.subject(user)) may not make this change in '\(text)'; etcd's operator grants rights"
  }

  private var text: String { String(decoding: prefix, as: UTF8.self) }

  private static func subject(_ user: String?) -> String {
    user.map { "the user '\($0)'" } ?? "this machine"
  }

  private static let keys = Array("k/".utf8)
  private static let writers = Array("w/".utf8)
  private static let machines = Array("who/".utf8)
}

/// The rows that are not those of keys.
package enum StoreRow {
  /// The form of rows that this release writes.
  package static let form: UInt8 = 1

  package static func newIdentity() -> [UInt8] { [form] + WriterTag.random().bytes }

  package static func isIdentity(_ row: [UInt8]) -> Bool { row.count == 17 && row[0] == form }

  package static func floor(_ revision: Int64) -> [UInt8] {
    [form] + (0..<8).map { UInt8(truncatingIfNeeded: revision >> (56 - 8 * $0)) }
  }

  /// The revision that a row `floor` has; `nil` if the row is damaged, or has a newer form.
  package static func floor(_ row: [UInt8]) -> Int64? {
    guard row.count == 9, row[0] == form else { return nil }
    return row[1..<9].reduce(0) { $0 << 8 | Int64($1) }
  }
}

package import FoundationEssentials
internal import Glibc
package import PreferencesCore
package import PreferencesDurable
package import PrephirencesEtcd
internal import PrephirencesSystem

/// Where the rows of a store are on the server.
///
/// | key | has |
/// | --- | --- |
/// | `PREFIX` `id` | the identity of the store, see ``StoreIdentity`` |
/// | `PREFIX` `floor` | the form 1, and in 8 bytes the revision of the last collected removal |
/// | `PREFIX` `w/` tag | the last batch of a writer, see ``WriterRow`` |
/// | `PREFIX` `k/` key in UTF-8 | the value of a key, see ``SharedRow`` |
/// | `PREFIX` `who/` tag | what the writer's machine says of itself, see ``MachineRow`` |
///
/// Tags are hexadecimal. A writer without a copy has a tag that begins with 00; the server keeps
/// its row `w/` for a day.
package struct StoreLayout: Hashable, Sendable {
  /// The prefix of all keys of the store; it ends with a slash.
  package let prefix: [UInt8]

  package init(prefix: String) { self.prefix = Array(prefix.utf8) }

  /// Everything that machines watch.
  ///
  /// The rows `who/` are outside, so that they wake no machine.
  package var all: EtcdKeys { .from(prefix, to: prefix + Array("w0".utf8)) }

  package var values: EtcdKeys { .prefix(key("")) }

  package var writers: EtcdKeys { .prefix(prefix + Self.writers) }

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

  /// What a key on the server is for.
  package enum Name: Hashable, Sendable {
    case identity
    case floor
    case writer(WriterTag)
    case machine(WriterTag)
    case key(PreferenceKey)
    /// Not a row of this release: it stays as it is.
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

  /// The message for a user without any rights, which etcd does not explain.
  func noRights(of user: String?) -> String {
    "\(Self.subject(user)) has no rights to '\(text)' (any more); etcd's operator grants them"
  }

  /// The message for a user who may read but not change.
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

/// The rows other than those of keys.
package enum StoreRow {
  /// The form of rows that this release writes.
  package static let form: UInt8 = 1

  package static func newIdentity() -> [UInt8] { [form] + WriterTag.random().bytes }

  package static func floor(_ revision: Int64) -> [UInt8] {
    [form] + (0..<8).map { UInt8(truncatingIfNeeded: revision >> (56 - 8 * $0)) }
  }

  /// The revision in a row `floor`, or `nil` if the row is damaged or has a newer form.
  package static func floor(_ row: [UInt8]) -> Int64? {
    guard row.count == 9, row[0] == form else { return nil }
    return row[1..<9].reduce(0) { $0 << 8 | Int64($1) }
  }
}

/// The row `who/<tag>`: what the machine of a writer says of itself, which proves nothing.
///
/// It is the form 1, followed by JSON.
package struct MachineRow: Hashable, Sendable, Codable {
  package var name: String
  /// The release of this package that it runs.
  package var release: String
  /// When it was last in touch with the server, by its own clock, in milliseconds since 1970.
  package var contact: Int64
  /// How many of its keys are unsent because they wait for a decision or were refused.
  package var unsent: Int

  package init(
    name: String, release: String = Release.version, contact: Date = Date(), unsent: Int = 0
  ) {
    self.name = name
    self.release = release
    self.contact = contact.milliseconds
    self.unsent = unsent
  }

  /// Reads a row, or returns `nil` if it is damaged or has a newer form.
  package init?(_ row: [UInt8]) {
    guard row.count <= Self.greatestSize, row.first == StoreRow.form,
      let read = try? JSONDecoder().decode(Self.self, from: Data(row.dropFirst())),
      Self.isName(read.name), Self.isName(read.release), read.unsent >= 0,
      Date(foreignMilliseconds: read.contact) != nil
    else { return nil }
    self = read
  }

  package func bytes() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [StoreRow.form] + (try encoder.encode(self))
  }

  package var date: Date { Date(milliseconds: contact) }

  private static let greatestSize = 1024

  // MARK: - Names

  /// The greatest length of a name, in bytes.
  static let greatestName = 64

  /// Whether a text can name a machine: it must be short and printable.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= greatestName
      && text.unicodeScalars.allSatisfy { scalar in
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
          .paragraphSeparator:
          return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
      }
  }

  /// The name of this host, from the kernel.
  package static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unnamed" }
    let text = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.prefix(greatestName),
      as: UTF8.self)
    return isName(text) ? text : "unnamed"
  }
}

/// A batch as a transaction of the server, which performs it only if nothing has changed meanwhile.
package struct BatchTransaction: Sendable {
  package let layout: StoreLayout
  package let identity: [UInt8]
  package let batch: SharedBatch

  package init(layout: StoreLayout, identity: [UInt8], batch: SharedBatch) {
    self.layout = layout
    self.identity = identity
    self.batch = batch
  }

  /// Rows up to this size are compared whole.
  static let greatestWholeRow = 2048

  /// What a compare or an operation adds to a request, beyond keys and values.
  private static let overhead = 64

  package var transaction: EtcdTransaction {
    let writer = layout.writer(batch.writer)
    var success = [EtcdOperation.put(key: writer, value: batch.newWriterRow)]
    var failure = [EtcdOperation.range(.one(layout.identity)), .range(.one(writer))]
    for change in batch.changes {
      let key = layout.key(change.row.key)
      success.append(.put(key: key, value: change.row.bytes))
      failure.append(.range(.one(key), keysOnly: true))
    }
    return EtcdTransaction(compares: compares(writer), success: success, failure: failure)
  }

  private func compares(_ writer: [UInt8]) -> [EtcdCompare] {
    var compares: [EtcdCompare] = [
      .value(.one(layout.identity), .equal, identity),
      batch.oldWriterRow.map { .value(.one(writer), .equal, $0) } ?? .absent(writer),
    ]
    var large: [SharedRow] = []
    for change in batch.changes {
      switch change.base {
      case .absent: compares.append(.absent(layout.key(change.row.key)))
      case .row(let row) where row.bytes.count <= Self.greatestWholeRow:
        compares.append(.value(.one(layout.key(row.key)), .equal, row.bytes))
      case .row(let row): large.append(row)
      }
    }
    large.sort { $0.bytes.count > $1.bytes.count }
    // Each key takes at least one compare.
    let pairs = max(0, min(large.count, EtcdTransaction.limit - 2 - batch.changes.count))
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

  /// Compares that pass only if the row has the same header.
  private func headerCompares(_ row: SharedRow) -> [EtcdCompare] {
    let key = EtcdKeys.one(layout.key(row.key))
    let header = Array(row.bytes.prefix(SharedRow.headerCount))
    var next = header
    var index = next.count - 1
    while index > 0, next[index] == 0xFF {
      next[index] = 0
      index -= 1
    }
    next[index] += 1
    return [.value(key, .greater, header), .value(key, .less, next)]
  }

  /// The approximate size of the request with these compares and all puts.
  private func size(of compares: [EtcdCompare]) -> Int {
    // Each key is in a compare, a put and a range.
    let keys = batch.changes.reduce(0) {
      $0 + 3 * (layout.prefix.count + $1.row.key.utf8.count + 2)
    }
    let rows = batch.changes.reduce(0) { $0 + $1.row.bytes.count }
    let compared = compares.reduce(0) { size, compare in
      if case .value(_, _, let value) = compare { size + value.count } else { size }
    }
    let count = 2 * EtcdTransaction.limit + compares.count
    return keys + rows + compared + count * Self.overhead
  }

  // MARK: - Answer

  /// What the server answered.
  package enum Outcome: Hashable, Sendable {
    /// The server has the batch since this revision.
    case committed(Int64)
    /// A key has changed, at this revision or before; `nil` if the revision is unknown.
    case changed(Int64?)
    /// The store has another identity, or none.
    case foreign
    /// Another file writes with this tag.
    case cloned
    /// The server has an older state than before.
    case restored
    /// The answer lacks rows that were asked for.
    case malformed
  }

  package func outcome(of answer: EtcdTransactionAnswer) -> Outcome {
    if answer.succeeded { return .committed(answer.header.revision) }
    guard answer.responses.count == batch.changes.count + 2,
      case .range(let identities) = answer.responses[0],
      case .range(let writers) = answer.responses[1]
    else { return .malformed }
    let writer = writers.first
    if let writer, writer.value == batch.newWriterRow { return .committed(writer.modRevision) }
    guard identities.first?.value == identity else { return .foreign }
    guard writer?.value == batch.oldWriterRow else {
      let number = writer.flatMap { WriterRow.number($0.value) } ?? 0
      let old = batch.oldWriterRow.flatMap { WriterRow.number($0) } ?? 0
      return number < old ? .restored : .cloned
    }
    var last: Int64? = 0
    for (change, response) in zip(batch.changes, answer.responses.dropFirst(2)) {
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

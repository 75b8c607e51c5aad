package import FoundationEssentials
internal import Glibc
package import PreferencesCore
package import PreferencesDurable
package import PrephirencesEtcd
package import PrephirencesSystem

/// Reads and changes a shared store on the server, without a copy on this machine.
///
/// Each call blocks for ``timeout`` at most.
package final class DirectStore: Sendable {
  /// The longest time of a call: more than a cluster needs to elect a leader.
  package static let timeout: Duration = .seconds(20)

  let client: EtcdClient
  let layout: StoreLayout
  /// The name of this machine, sent with each change.
  let machine: String
  let timeout: Duration

  package init(
    cluster: EtcdConfiguration, layout: StoreLayout, machine: String = MachineRow.hostName,
    timeout: Duration = DirectStore.timeout
  ) {
    client = .shared(cluster)
    self.layout = layout
    self.machine = machine
    self.timeout = timeout
  }

  /// Whether somebody has begun to use the store.
  package func exists() throws(PreferencesError) -> Bool { try identity() != nil }

  /// Returns the value of a key in one round trip, or `nil` if there is none.
  package func fetchValue(
    forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceValue? {
    try row(key, Deadline(after: timeout))?.storedValue()
  }

  /// Returns all readable keys with their values, at one revision, and the errors of the others.
  package func fetchReadablePairs() throws(PreferencesError) -> ReadablePairs {
    ReadablePairs(try snapshot(Deadline(after: timeout)).rows)
  }

  /// Returns all keys with their values, at one revision.
  package func fetchPairs() throws(PreferencesError) -> [(PreferenceKey, PreferenceValue)] {
    try fetchReadablePairs().complete()
  }

  /// Whether the cluster needs no password; `nil` before the first call, or if that is unknown.
  package var isWithoutAuthentication: Bool? { client.isWithoutAuthentication }

  /// What a local copy is compared with: the row of each key, the row `id`, and the revision of the
  /// store's last change, which is 0 without rows.
  package struct Contents: Sendable {
    package var rows: [[UInt8]: SharedRow] = [:]
    package var revision: Int64 = 0
    package var identity: [UInt8]?
  }

  /// Returns everything in the store, at one revision.
  package func contents(_ deadline: Deadline) throws(PreferencesError) -> Contents {
    try reporting {
      var contents = Contents()
      _ = try client.snapshot(layout.all, deadline: deadline) { page in
        for row in page {
          contents.revision = max(contents.revision, row.modRevision)
          switch layout.name(of: row.key) {
          case .identity: contents.identity = row.value
          case .key(let key):
            contents.rows[Array(key.utf8)] = SharedRow(
              key: key, revision: row.modRevision, bytes: row.value)
          case .floor, .writer, .machine, .unknown: break
          }
        }
      }
      return contents
    }
  }

  /// Performs reads and changes as one.
  ///
  /// The closure is called again if another writer changes the same keys meanwhile. More than
  /// ``DirectCommit/greatestKeys`` changed keys are sent in pieces. If a piece fails, earlier ones
  /// may have been sent.
  package func change(
    asOne: Bool = false, isRehearsal: Bool = false, _ body: (DirectTransaction) throws -> Void
  ) throws {
    let deadline = Deadline(after: timeout)
    let commit = DirectCommit(self, deadline)
    while true {
      let transaction = DirectTransaction(self, deadline)
      try body(transaction)
      let changes = try transaction.changes()
      if isRehearsal { return try commit.rehearse(changes, asOne: asOne) }
      if try changes.isEmpty || commit.perform(changes, asOne: asOne) { return }
      guard !deadline.hasPassed else {
        throw PreferencesError(
          .conflict, "others kept changing the same keys of the shared store; try again")
      }
      Deadline.pause(upTo: 50)
    }
  }

  /// Performs calls of the server; a refusal names the user and the store.
  func reporting<Result>(
    ofChange isChange: Bool = false, _ body: () throws -> Result
  ) throws(PreferencesError) -> Result {
    try PreferencesShared.reporting {
      do { return try body() } catch let error as EtcdError {
        throw described(error, ofChange: isChange)
      }
    }
  }

  /// Converts a failure of the server into an error of preferences.
  func described(_ error: EtcdError, ofChange isChange: Bool = false) -> PreferencesError {
    guard error.code == .permissionDenied else { return PreferencesError(error) }
    let user = client.configuration.user
    return PreferencesError(
      .accessDenied, isChange ? layout.noChange(by: user) : layout.noRights(of: user))
  }

  /// Returns the row `id`, or `nil` if nobody has begun to use the store.
  package func identity(_ deadline: Deadline? = nil) throws(PreferencesError) -> [UInt8]? {
    let deadline = deadline ?? Deadline(after: timeout)
    return try reporting { try client.range(.one(layout.identity), deadline: deadline) }
      .rows.first?.value
  }

  /// Returns the row of a key.
  func row(_ key: PreferenceKey, _ deadline: Deadline) throws(PreferencesError) -> SharedRow? {
    let answer = try reporting { try client.range(.one(layout.key(key)), deadline: deadline) }
    return answer.rows.first.map {
      SharedRow(key: key, revision: $0.modRevision, bytes: $0.value)
    }
  }

  /// Returns the rows of all keys, and their revision.
  func snapshot(
    _ deadline: Deadline
  ) throws(PreferencesError) -> (rows: [SharedRow], revision: Int64) {
    try reporting {
      var rows: [SharedRow] = []
      let header = try client.snapshot(layout.values, deadline: deadline) { page in
        rows += page.compactMap(sharedRow)
      }
      return (rows, header.revision)
    }
  }

  /// Returns the row of a key, or `nil` if the key is not UTF-8, and so not a key of this store.
  func sharedRow(_ row: EtcdRow) -> SharedRow? {
    let name = row.key.dropFirst(layout.key("").count)
    guard let key = String(validating: name, as: UTF8.self) else { return nil }
    return SharedRow(key: key, revision: row.modRevision, bytes: row.value)
  }
}

extension ReadablePairs {
  init(_ rows: some Sequence<SharedRow>) {
    self.init()
    for row in rows {
      do throws(PreferencesError) {
        if let value = try row.storedValue() { pairs.append((row.key, value)) }
      } catch {
        unreadable.append((row.key, error))
      }
    }
  }
}

extension SharedRow {
  /// Returns the value, or `nil` if the key was removed.
  package func storedValue() throws(PreferencesError) -> PreferenceValue? {
    switch content {
    case .value(let value): return value
    case .removal: return nil
    case .newer: throw .newerRow(key)
    case .damaged:
      throw PreferencesError(
        .damaged, "the shared value of the key '\(key)' is damaged; set it again, or remove it")
    }
  }
}

extension PreferencesError {
  static func newerRow(_ key: PreferenceKey) -> Self {
    Self(
      .unsupportedFormat,
      "the shared value of the key '\(key)' was written by a newer release; update this program")
  }
}

/// Performs calls of the server, and converts their failures into errors of preferences.
func reporting<Result>(_ body: () throws -> Result) throws(PreferencesError) -> Result {
  do {
    return try body()
  } catch let error as EtcdError {
    throw PreferencesError(error)
  } catch {
    throw .converting(error, "the shared store cannot be used")
  }
}

/// A machine that uses a store, as it describes itself.
package struct StoreMachine: Sendable {
  package let tag: WriterTag
  package let row: MachineRow
  /// When it last used the store, by its own clock.
  package let contact: Date
}

extension DirectStore {
  /// Returns the machines of the store, sorted by name.
  ///
  /// Of the machines without a copy, each name is listed once, with its newest row. It is left out
  /// if a machine with a copy has the same name.
  package func machines() throws(PreferencesError) -> [StoreMachine] {
    let deadline = Deadline(after: timeout)
    var found = try allMachines(deadline)
    found.sort { ($0.row.name, $1.contact) < ($1.row.name, $0.contact) }
    var direct = Set(found.filter { !$0.tag.isForgotten }.map(\.row.name))
    return found.filter { !$0.tag.isForgotten || direct.insert($0.row.name).inserted }
  }

  private func allMachines(_ deadline: Deadline) throws(PreferencesError) -> [StoreMachine] {
    try reporting {
      var found: [StoreMachine] = []
      var dates: [WriterTag: Date] = [:]
      _ = try client.snapshot(layout.writers, deadline: deadline) { page in
        for row in page {
          guard case .writer(let tag) = layout.name(of: row.key) else { continue }
          dates[tag] = WriterRow.date(row.value)
        }
      }
      _ = try client.snapshot(layout.machines, deadline: deadline) { page in
        for stored in page {
          // A row of a newer release is unknown here, and stays.
          guard case .machine(let tag) = layout.name(of: stored.key),
            let row = MachineRow(stored.value)
          else { continue }
          let contact = max(row.date, dates[tag] ?? row.date)
          found.append(StoreMachine(tag: tag, row: row, contact: contact))
        }
      }
      return found
    }
  }

  /// Removes the rows of a machine, also those that it wrote without a copy; a machine that is
  /// still running writes a row again.
  package func forget(_ machine: StoreMachine) throws(PreferencesError) {
    let deadline = Deadline(after: timeout)
    let all = try allMachines(deadline).filter { other in
      other.tag == machine.tag
        || other.tag.isForgotten && other.row.name.utf8.elementsEqual(machine.row.name.utf8)
    }
    try reporting(ofChange: true) {
      for machine in all {
        _ = try client.delete(.one(layout.machine(machine.tag)), deadline: deadline)
      }
    }
  }
}

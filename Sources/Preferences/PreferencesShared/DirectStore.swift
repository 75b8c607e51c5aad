package import FoundationEssentials
internal import Glibc
package import PreferencesCore
package import PreferencesDurable
package import PrephirencesEtcd
package import PrephirencesSystem

/// A shared store that is read and changed where the server has it, without a copy on this machine.
///
/// Its calls block, at most for ``timeout``.
package final class DirectStore: Sendable {
  /// How long a call tries: as long as a cluster takes to find a new leader, and more.
  package static let timeout: Duration = .seconds(20)

  let client: EtcdClient
  let layout: StoreLayout
  /// The name that the store gets of this machine with a change.
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

  /// Returns the value of a key, in one round trip; `nil` if there is none.
  package func fetchValue(
    forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceValue? {
    try row(key, Deadline(after: timeout))?.storedValue()
  }

  /// Returns all keys with their values that can be read, all at one revision, and why others cannot.
  package func fetchReadablePairs() throws(PreferencesError) -> ReadablePairs {
    ReadablePairs(try snapshot(Deadline(after: timeout)).rows)
  }

  /// Returns all keys with their values, all at one revision.
  package func fetchPairs() throws(PreferencesError) -> [(PreferenceKey, PreferenceValue)] {
    try fetchReadablePairs().complete()
  }

  /// Whether the cluster asks nobody for a password; `nil` before the first call, or if that is not
  /// known.
  package var isWithoutAuthentication: Bool? { client.isWithoutAuthentication }

  /// What a copy is compared with: the rows of all keys, the revision of the last change of the store,
  /// which is 0 if it has no rows, and the row `id`.
  package struct Contents: Sendable {
    package var rows: [[UInt8]: SharedRow] = [:]
    package var revision: Int64 = 0
    package var identity: [UInt8]?
  }

  /// Returns everything that the store has, at one revision.
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
  /// If somebody else changes the same keys meanwhile, the closure is called again. More than
  /// ``DirectCommit/greatestKeys`` changed keys are sent in pieces: if that fails, some may have been
  /// sent.
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

  /// Performs calls of the server, to read or to change, and reports their failures; a refusal names the
  /// user and the store.
  func reporting<Result>(
    ofChange isChange: Bool = false, _ body: () throws -> Result
  ) throws(PreferencesError) -> Result {
    try PreferencesShared.reporting {
      do { return try body() } catch let error as EtcdError {
        throw described(error, ofChange: isChange)
      }
    }
  }

  /// Returns a failure of the server, to read or to change.
  func described(_ error: EtcdError, ofChange isChange: Bool = false) -> PreferencesError {
    guard error.code == .permissionDenied else { return PreferencesError(error) }
    let user = client.configuration.user
    return PreferencesError(
      .accessDenied, isChange ? layout.noChange(by: user) : layout.noRights(of: user))
  }

  /// Returns the row `id`; `nil` if nobody has begun to use the store.
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

  /// Returns the rows of all keys, and the revision at which the server had them.
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

  /// Returns the row of a key; `nil` if the key is not text, and so not one of this store's.
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
  /// Returns the value; `nil` if the key was removed.
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

/// Performs calls of the server, and reports their failures as errors of preferences.
func reporting<Result>(_ body: () throws -> Result) throws(PreferencesError) -> Result {
  do {
    return try body()
  } catch let error as EtcdError {
    throw PreferencesError(error)
  } catch {
    throw .converting(error, "the shared store cannot be used")
  }
}

/// A machine that uses a store, as it says itself.
package struct StoreMachine: Sendable {
  package let tag: WriterTag
  package let row: MachineRow
  /// When it was in touch with the store, or changed something, by its own clock.
  package let contact: Date
}

extension DirectStore {
  /// Returns the machines of the store, in the order of their names.
  ///
  /// Of machines without a copy, the last of each name is listed, unless one with a copy has the name.
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
          // What a newer release says stays, and is not understood.
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

  /// Removes what a machine says of itself, also what it said without a copy, which it says with each
  /// change; if it is still there, it says so again.
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

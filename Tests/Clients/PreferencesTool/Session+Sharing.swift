internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable

/// The commands on a shared file.
extension Session {
  private var replica: SharedReplica { SharedReplica(store) }

  func runSharing(_ command: String, _ words: [String]) throws {
    switch (command, words.count) {
    case ("share", 0): try replica.share(SharingSettings())
    case ("unshare", 0): try replica.unshare()
    case ("connect", 0): try connect()
    case ("receive", 3): try receive(words[0], words[1], Int64(words[2]) ?? 0)
    case ("next-unit", 0): report(try replica.nextBatch().map(Self.text) ?? "none")
    case ("acknowledge", 1): try acknowledge(Int64(words[0]) ?? 0)
    case ("state", 0): try reportState()
    case ("exchange", 2): try exchange(words[0], from: Int(words[1]) ?? 0)
    case ("drain", 1): try drain(words[0])
    case ("fork-shared", 0): try forkShared()
    default: exit(64)
    }
  }

  /// The number, the random bytes and the contents of a batch.
  private static func text(_ batch: SharedBatch) -> String {
    let rows = batch.changes.map { "\($0.row.key)=\(hexadecimal($0.row.bytes))" }.sorted()
    return "unit \(batch.number) \(hexadecimal(batch.newWriterRow)) \(rows.joined(separator: ","))"
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
  }

  private func connect() throws {
    let snapshot = SharedSnapshot(
      revision: 1, identity: FileEngine.identity, floor: 0, writers: [:], rows: [])
    report("\(try replica.apply(snapshot))")
  }

  /// Applies a value of another machine; `xN` stands for N bytes.
  private func receive(_ key: String, _ value: String, _ revision: Int64) throws {
    let count = value.hasPrefix("x") ? Int(value.dropFirst()) : nil
    let value = count.map { PreferenceValue.data(Data(repeating: 7, count: $0)) } ?? .string(value)
    let other = WriterTag([UInt8](repeating: 9, count: 16))
    let row = SharedRow(key: key, value: value, writer: other, number: revision)
    let change = SharedRow(key: key, revision: revision, bytes: row.bytes)
    let revision = SharedRevision(revision: revision, changes: [.row(change)])
    report("\(try replica.apply([revision]))")
  }

  private func acknowledge(_ revision: Int64) throws {
    guard let batch = try replica.nextBatch() else { return report("none") }
    try replica.acknowledge(batch, revision: revision)
  }

  private func reportState() throws {
    let state = try replica.state()
    report("unsent \(state.unsentKeys) revision \(state.revision)")
  }

  // MARK: - Exchange

  /// Sets, sends and receives on and on, from a number on; prints what is certain.
  private func exchange(_ path: String, from start: Int) throws {
    var engine = try join(path)
    for number in start... {
      try store.storeObject(number, forKey: "k\(number % 5)")
      report("set k\(number % 5) \(number)")
      if number.isMultiple(of: 3) {
        try store.transaction { _ in
          try store.storeObject(number, forKey: "left")
          try store.storeObject(number, forKey: "right")
        }
        report("set left \(number)")
      }
      if number.isMultiple(of: 4) { try store.storeObject(number, forKey: "contended") }
      if number.isMultiple(of: 2) { try engine.write(number, forKey: "other\(number % 3)") }
      try send(&engine, isContended: number.isMultiple(of: 7))
      try receive(engine)
    }
  }

  /// Goes on where a process was killed: first with the batch that was numbered.
  private func join(_ path: String) throws -> FileEngine {
    let engine = try FileEngine(path)
    if try !replica.isShared() {
      try replica.share(SharingSettings())
    } else if let batch = try replica.nextBatch() {
      let row = engine.writers[batch.writer].map(Self.hexadecimal) ?? "none"
      report("engine \(row)")
      report(Self.text(batch))
    }
    guard try replica.apply(engine.snapshot) == .applied else {
      throw PreferencesError(.conflict, "the snapshot was not applied")
    }
    // The engine may have shown that the batch can never be performed.
    report("joined")
    return engine
  }

  /// Sends the next batch; before it arrives, another machine may change a key.
  ///
  /// - Returns: Whether there is one.
  @discardableResult
  private func send(_ engine: inout FileEngine, isContended: Bool = false) throws -> Bool {
    guard let batch = try replica.nextBatch() else { return false }
    report(Self.text(batch))
    if isContended { try engine.write(-1, forKey: "contended") }
    if try engine.perform(batch) {
      try replica.acknowledge(batch, revision: engine.revision)
    } else {
      report("refused \(batch.number)")
      try receive(engine)
      try replica.reject(batch)
    }
    report("settled \(batch.number)")
    return true
  }

  private func receive(_ engine: FileEngine) throws {
    let events = engine.events(after: try replica.state().revision)
    guard try replica.apply(events) == .applied else {
      throw PreferencesError(.conflict, "the events were not applied")
    }
  }

  /// Sends all, and prints what the engine has then.
  private func drain(_ path: String) throws {
    var engine = try join(path)
    while try send(&engine) {}
    try receive(engine)
    for (key, row) in engine.rows.sorted(by: { $0.key < $1.key }) {
      if case .value(let value) = row.content { report("row \(key) \(value.object)") }
    }
  }

  // MARK: - Forks

  /// Uses the shared file in a forked child, then in this process.
  private func forkShared() throws {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(70) }
    let replica = replica
    let batch = try replica.nextBatch()
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
      attempt("isShared") { _ = try replica.isShared() }
      attempt("share") { try replica.share(SharingSettings()) }
      attempt("state") { _ = try replica.state() }
      attempt("next-unit") { _ = try replica.nextBatch() }
      attempt("apply") { _ = try replica.apply([]) }
      attempt("acknowledge") { if let batch { try replica.acknowledge(batch, revision: 2) } }
      attempt("conflicts") { _ = try replica.conflicts() }
      attempt("journal") { _ = try replica.changeFeed(after: 0) }
      attempt("unshare") { try replica.unshare() }
      _exit(0)
    }
    waitpid(child, nil, 0)
    report("parent \(try replica.nextBatch().map(Self.text) == batch.map(Self.text))")
  }

  private func attempt(_ name: String, _ body: () throws -> Void) {
    do {
      try body()
      report("child \(name) succeeded")
    } catch {
      report("child \(name) \(described(error))")
    }
  }
}

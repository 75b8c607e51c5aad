import Foundation
import Prephirences
import PrephirencesDurable

/// A machine of the model: a file of its own, and what it knows of the network.
final class ModelMachine {
  let name: String
  private(set) var folder: ModelFolder
  private(set) var store: DurablePreferences
  private(set) var replica: SharedReplica

  /// Whether it watches; otherwise it reads everything first.
  var isConnected = false

  /// What was set here and not replaced here: by key, the values that must not vanish.
  var written: [PreferenceKey: Set<Int>] = [:]

  init(_ name: String, programDecides: Bool) throws {
    self.name = name
    folder = try ModelFolder()
    store = folder.store()
    replica = SharedReplica(store)
    try share(programDecides)
  }

  /// A machine that has a copy of another one's file.
  init(_ name: String, copy: ModelFolder) {
    self.name = name
    folder = copy
    store = folder.store()
    replica = SharedReplica(store)
  }

  private func share(_ programDecides: Bool) throws {
    var settings = SharingSettings()
    settings.programDecides = programDecides
    try replica.share(settings)
  }

  /// Returns a copy of the file as it is now.
  func copy() throws -> ModelFolder { try ModelFolder(copying: folder) }

  /// Goes on with a copy of this or another machine's file.
  func become(_ copy: ModelFolder) {
    folder = copy
    store = folder.store()
    replica = SharedReplica(store)
    isConnected = false
    written = [:]
  }

  /// Goes on as another process would.
  func reopen() {
    store = folder.store()
    replica = SharedReplica(store)
    isConnected = false
  }

  // MARK: - Exchange

  /// Receives what the engine has; of a watch, at most `count` revisions.
  func receive(_ engine: inout ModelEngine, atMost count: Int = .max) throws {
    if isConnected, let events = engine.events(after: try replica.state().revision) {
      guard try replica.apply(Array(events.prefix(count))) == .cloned else { return }
    } else if try readEverything(&engine) {
      return
    }
    try replica.renewWriter()
    guard try readEverything(&engine) else { throw ModelFailure.refused }
  }

  /// Whether it was applied.
  private func readEverything(_ engine: inout ModelEngine) throws -> Bool {
    let before = engine.identity
    var outcome = try replica.apply(engine.snapshot, beginsLife: true)
    if case .restored(let next) = outcome {
      engine.renew(before, next)
      outcome = try replica.apply(engine.snapshot, beginsLife: true)
    }
    isConnected = outcome == .applied
    return isConnected
  }

  /// Reads everything, and hears of a batch that was on its way before it applies what it has read.
  func receiveLate(_ engine: inout ModelEngine) throws {
    let known = try replica.state()
    let batch = isConnected ? try replica.nextBatch() : nil
    let reading = engine.snapshot
    if let batch, let revision = engine.perform(batch, known.identity) {
      try replica.acknowledge(batch, revision: revision)
    }
    isConnected = try replica.apply(reading, since: known, beginsLife: true) == .applied
    if !isConnected { try receive(&engine) }
  }

  enum Delivery { case whole, noRequest, noAnswer }

  /// Sends the next batch.
  ///
  /// - Returns: The batch; `nil` if there is none.
  func send(_ engine: inout ModelEngine, _ delivery: Delivery = .whole) throws -> SharedBatch? {
    guard let batch = try replica.nextBatch() else { return nil }
    guard delivery != .noRequest else { return batch }
    let identity = try replica.state().identity
    let revision = engine.perform(batch, identity)
    guard delivery == .whole else { return batch }
    if let revision {
      try replica.acknowledge(batch, revision: revision)
    } else if identity != engine.identity {
      isConnected = false
      try receive(&engine)
    } else if engine.writers[batch.writer] == batch.newWriterRow {
      try receive(&engine)
    } else if engine.writers[batch.writer] == batch.oldWriterRow {
      try receive(&engine)
      try replica.reject(batch)
    } else {
      isConnected = false
      try receive(&engine)
    }
    return batch
  }

  // MARK: - Values

  var values: [PreferenceKey: Int] {
    get throws { try store.fetchAllObjects().compactMapValues { $0 as? Int } }
  }
}

enum ModelFailure: Error { case refused, noAgreement }

/// A folder in memory, if there is one, which is removed with the object.
final class ModelFolder {
  private let path: String

  init() throws {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    path = base + "/model-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  convenience init(copying other: ModelFolder) throws {
    try self.init()
    for suffix in ["", "-wal"] {
      let name = "/suite.preferences" + suffix
      guard let data = FileManager.default.contents(atPath: other.path + name) else { continue }
      let copy = path + name
      guard
        FileManager.default.createFile(
          atPath: copy, contents: data, attributes: [.posixPermissions: 0o600])
      else { throw ModelFailure.refused }
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func store() -> DurablePreferences { DurablePreferences(suiteName: "suite", folder: path) }
}

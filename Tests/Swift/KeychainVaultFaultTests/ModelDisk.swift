import Foundation
import Glibc
import PrephirencesSystem
import Synchronization
import SystemPackage

@testable import KeychainVault

/// A disk in memory that knows what a power failure may leave of it.
///
/// Each sector of a file is written whole or not, in any order, until the file is synced; names are
/// changed for certain when their folder is synced. A sync that fails forgets what it has not written.
/// Files are looked at by one thread at a time. All paths are in one folder.
final class ModelDisk: VaultDisk {
  /// What a program asks a disk to change.
  enum Call: Hashable {
    case create, write, truncate, syncData, sync, rename, exchange, remove, syncFolder, note
  }

  /// What a caller sees in place of the answer of a call.
  struct Fault: Sendable {
    let error: Errno
    /// How many bytes a write writes before it fails.
    var written = 0
    /// Whether the program ends there: nothing is done, nor anything later.
    var isKill = false

    init(_ error: Errno, written: Int = 0) {
      self.error = error
      self.written = written
    }

    static let kill: Self = {
      var fault = Self(.ioError)
      fault.isKill = true
      return fault
    }()
  }

  private struct Content: Sendable {
    var state: DiskState
    var calls: [Call] = []
    var states: [DiskState] = []
    var locks: [Int: ObjectIdentifier] = [:]
  }

  private let content: Mutex<Content>
  /// What was recorded before the power failed.
  let initialNotes: [Int]
  /// Decides by the number of the call, from 0, whether it fails.
  private let fault: @Sendable (Int, Call) -> Fault?
  /// Reads the file of a seen record, which lies elsewhere.
  private let record: (@Sendable () -> Data?)?

  init(
    _ state: DiskState = DiskState(), record: (@Sendable () -> Data?)? = nil,
    failing fault: @escaping @Sendable (Int, Call) -> Fault? = { _, _ in nil }
  ) {
    content = Mutex(Content(state: state))
    initialNotes = state.notes
    self.record = record
    self.fault = fault
  }

  /// The changes so far.
  var calls: [Call] { content.withLock { $0.calls } }

  /// How the disk was after each change.
  var states: [DiskState] { content.withLock { $0.states } }

  /// Records what a test must know of each moment, such as the number of a write that was acknowledged.
  func note(_ value: Int) {
    content.withLock { content in
      sampleRecord(&content.state)
      content.state.notes.append(value)
      content.calls.append(.note)
      content.states.append(content.state)
    }
  }

  /// Notes how the record is now.
  ///
  /// One that was made, or has another administration key, is durable; in place of others, each that it
  /// was since then may be on the disk.
  private func sampleRecord(_ state: inout DiskState) {
    guard let record else { return }
    let now = record()
    guard let last = state.records.last else { return state.records = [now] }
    guard now != last else { return }
    let keys = [last, now].map { $0?.dropFirst(16).prefix(64) }
    state.records = keys[0] == keys[1] ? state.records + [now] : [now]
  }

  fileprivate func change(
    _ call: Call, _ body: (inout DiskState, Fault?) throws(Errno) -> Void
  ) throws(Errno) {
    try content.withLock { content throws(Errno) in
      let fault = fault(content.calls.count, call)
      if let fault, fault.isKill { throw fault.error }
      sampleRecord(&content.state)
      content.calls.append(call)
      defer { content.states.append(content.state) }
      try body(&content.state, fault)
      if let fault { throw fault.error }
    }
  }

  fileprivate func look<Result>(
    _ body: (DiskState) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    try content.withLock { content throws(Errno) in try body(content.state) }
  }

  /// Is on the disk at once, and no change by itself: it comes with others.
  fileprivate func mark(_ inode: Int, isUnfinished: Bool) {
    content.withLock { $0.state.files[inode]?.isUnfinished = isUnfinished }
  }

  fileprivate func lock(_ inode: Int, for file: ModelFile) -> Bool {
    content.withLock { content in
      let holder = content.locks[inode] ?? ObjectIdentifier(file)
      content.locks[inode] = holder
      return holder == ObjectIdentifier(file)
    }
  }

  fileprivate func unlock(_ inode: Int, for file: ModelFile) {
    content.withLock { content in
      if content.locks[inode] == ObjectIdentifier(file) { content.locks[inode] = nil }
    }
  }

  // MARK: - VaultDisk

  func status(of path: String) throws(Errno) -> DiskStatus? {
    try look { state in state.names[path].flatMap { state.status($0) } }
  }

  func open(_ path: String, writing: Bool) throws(Errno) -> any DiskFile {
    let inode = try look { state in state.names[path] }
    guard let inode else { throw .noSuchFileOrDirectory }
    return ModelFile(self, inode)
  }

  func makeTemporary(_ path: String) throws(Errno) -> any DiskFile {
    try change(.create) { state, fault throws(Errno) in
      guard fault == nil else { return }
      guard state.names[path] == nil else { throw .fileExists }
      let inode = (state.files.keys.max() ?? 0) + 1
      state.files[inode] = DiskState.File(content: [])
      state.files[inode]?.isUnfinished = true
      state.rename([path: inode])
    }
    return try open(path, writing: true)
  }

  func rename(_ path: String, to name: String) throws(Errno) {
    try change(.rename) { state, fault throws(Errno) in
      guard fault == nil else { return }
      guard let inode = state.names[path] else { throw .noSuchFileOrDirectory }
      guard state.names[name] == nil else { throw .fileExists }
      state.rename([path: nil, name: inode])
    }
  }

  func exchange(_ path: String, _ name: String) throws(Errno) -> Bool {
    try change(.exchange) { state, fault throws(Errno) in
      guard fault == nil else { return }
      guard let first = state.names[path], let second = state.names[name] else {
        throw .noSuchFileOrDirectory
      }
      state.rename([path: second, name: first])
    }
    return true
  }

  func remove(_ path: String) throws(Errno) {
    try change(.remove) { state, fault in
      if fault == nil { state.rename([path: nil]) }
    }
  }

  func syncFolder(of path: String) throws(Errno) {
    try change(.syncFolder) { state, fault in
      if fault == nil { state.syncNames() }
    }
  }

  func freeBytes(at path: String) -> UInt64 { .max }

  func obstacleToReplacing(_ path: String) -> Errno? { nil }
}

/// An open file of a ``ModelDisk``.
private final class ModelFile: DiskFile {
  private let disk: ModelDisk
  private let inode: Int

  init(_ disk: ModelDisk, _ inode: Int) {
    self.disk = disk
    self.inode = inode
  }

  deinit { unlock() }

  func status() throws(Errno) -> DiskStatus {
    let status = try disk.look { $0.status(inode) }
    guard let status else { throw .badFileDescriptor }
    return status
  }

  func read(_ range: Range<Int>) throws(Errno) -> Data {
    try disk.look { state in
      let content = state.files[inode]?.content ?? []
      return Data(content[range.clamped(to: 0..<content.count)])
    }
  }

  func write(_ bytes: Data, at offset: Int) throws(Errno) {
    let bytes = Array(bytes)
    try disk.change(.write) { state, fault in
      state.files[inode]?.write(bytes.prefix(fault?.written ?? bytes.count), at: offset)
    }
  }

  func truncate(to size: Int) throws(Errno) {
    try disk.change(.truncate) { state, fault in
      if fault == nil { state.files[inode]?.truncate(to: size) }
    }
  }

  func syncData() throws(Errno) { try sync(.syncData) }

  func sync() throws(Errno) { try sync(.sync) }

  private func sync(_ call: ModelDisk.Call) throws(Errno) {
    try disk.change(call) { state, fault in
      if fault == nil { state.files[inode]?.sync() } else { state.files[inode]?.failSync() }
    }
  }

  /// Nobody else runs meanwhile, so waiting would not help.
  func lock(until deadline: Deadline) -> Bool { disk.lock(inode, for: self) }

  func unlock() { disk.unlock(inode, for: self) }

  func takeAttributes(of old: (any DiskFile)?) {}

  func mark(isUnfinished: Bool) { disk.mark(inode, isUnfinished: isUnfinished) }
}

internal import Glibc
package import SystemPackage

/// Waits for changes of a file, such as a database, in a folder that may be created, removed or
/// replaced.
///
/// It watches the folder with the kernel's notifications (inotify) and never opens the file:
/// opening and closing the file would drop SQLite's locks. Every transaction of SQLite, whether it
/// is committed, rolled back or killed, ends with closing the journal after the database was
/// written. For a file that its writers keep open, each write counts. One thread waits; any other
/// can end that.
package final class FileWatch: Sendable {
  /// Why waiting ended.
  package enum Event: Hashable {
    case changed
    case ended

    /// Watching is no longer possible.
    case failed(Errno)
  }

  /// A change of a file in a folder.
  package struct Change: Hashable, Sendable {
    package let name: String
    /// Whether the file was only written to, but not closed, created or replaced.
    package let isWrite: Bool
  }

  /// `nil` if all files of the folder are watched.
  private let suffixes: [String]?
  private let entries: UInt32
  private let path: @Sendable () -> String?
  private let descriptor: FileDescriptor

  /// The kernel's description of the descriptor.
  ///
  /// Code that closes all descriptors can let another file have the number.
  private let link: String?
  private let mounts: FileDescriptor?
  private let process = getpid()

  /// The watch whose removal ends the waiting, because the kernel notifies of the removal.
  ///
  /// Its file exists everywhere and is not a folder above the watched file.
  private let end: CInt
  private let state = PosixMutex(State())

  private struct State {
    /// The watched folder, the names in it that count, and the watches on the folders above, which
    /// count if those folders move.
    var folder: CInt = -1
    var names: Set<String>? = []
    var watches: Set<CInt> = []
    /// The changes in a folder whose files are all watched; `nil` if any file may have changed.
    var changes: Set<Change>? = []
    var isCancelled = false
    var isClosed = false
  }

  package init(
    withSuffixes suffixes: [String]? = [], noticesEachWrite: Bool = false,
    path: @escaping @Sendable () -> String?
  ) throws(Errno) {
    let number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
    guard number >= 0 else { throw .current }
    descriptor = FileDescriptor(rawValue: number)
    link = Self.link(of: number)
    // The folder's own events don't include a mount over it.
    mounts = try? PrivateFile.open("/proc/self/mountinfo")
    self.suffixes = suffixes
    entries = noticesEachWrite ? Mask.entries | Mask.write : Mask.entries
    self.path = path
    end = unsafe inotify_add_watch(number, "/dev/null", Mask.itself)
    guard end >= 0 else { throw .current }
    try arm()
  }

  deinit { close() }

  /// Waits until the file may have changed.
  package func wait(_ milliseconds: CInt = -1) -> Event {
    while true {
      var polled = [
        pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: mounts?.rawValue ?? -1, events: 0, revents: 0),
      ]
      let count = unsafe poll(&polled, 2, milliseconds)
      guard count >= 0 || errno == EINTR else { return .failed(.current) }
      // Otherwise, this would read from another file.
      guard isOpen else { return .failed(.badFileDescriptor) }
      if count == 0 { return .changed }
      var outcome = Outcome()
      if polled[1].revents != 0 { outcome = Outcome(isChange: true, isMove: true) }
      do throws(Errno) {
        try read { outcome.add(meaning(of: $0)) }
        // An overflowing queue loses the notification, so check the state.
        if state.withLock({ $0.isCancelled }) { return .ended }
        if outcome.isEnd { throw Errno(rawValue: ENODEV) }
        if outcome.isMove {
          state.withLock { $0.changes = nil }
          try arm()
        }
      } catch { return .failed(error) }
      if outcome.isChange || outcome.isMove { return .changed }
    }
  }

  /// Returns the files of the folder that have changed; `nil` if any may have changed.
  package func takeChanges() -> Set<Change>? {
    state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
  }

  /// Makes ``wait()`` return, now or when it is called.
  package func cancel() {
    // A forked child shares the notifications with its parent.
    guard getpid() == process else { return }
    state.withLock { state in
      state.isCancelled = true
      guard !state.isClosed, isOpen else { return }
      inotify_rm_watch(descriptor.rawValue, end)
    }
  }

  /// Ends the watch; it must be the last call of the waiting thread.
  package func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      guard isOpen else { return }
      try? descriptor.close()
      try? mounts?.close()
    }
  }

  /// Whether the descriptor still is the one that was opened.
  private var isOpen: Bool {
    fcntl(descriptor.rawValue, F_GETFD) >= 0 && Self.link(of: descriptor.rawValue) == link
  }

  /// Returns the kernel's description of a descriptor; `nil` if there is none.
  private static func link(of descriptor: CInt) -> String? {
    var target = [CChar](repeating: 0, count: 64)
    let count = unsafe readlink("/proc/self/fd/\(descriptor)", &target, target.count)
    guard count > 0 else { return nil }
    return String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  // MARK: - Events

  private struct Outcome {
    var isEnd = false
    var isChange = false

    /// Whether other folders must be watched from now on.
    var isMove = false

    mutating func add(_ other: Outcome) {
      isEnd = isEnd || other.isEnd
      isChange = isChange || other.isChange
      isMove = isMove || other.isMove
    }
  }

  private func meaning(of event: Notification) -> Outcome {
    if event.watch == end { return Outcome(isEnd: event.mask & Mask.ignored != 0) }
    if event.mask & Mask.overflow != 0 { return Outcome(isChange: true, isMove: true) }
    return state.withLock { state in
      guard state.watches.contains(event.watch) else { return Outcome() }
      guard event.watch == state.folder, event.mask & Mask.gone == 0 else {
        return Outcome(isMove: true)
      }
      guard let name = event.name, state.names?.contains(name) ?? true else { return Outcome() }
      if state.names == nil {
        state.changes?.insert(Change(name: name, isWrite: event.mask == Mask.write))
      }
      // A folder's event means that the file's own folder is not watched yet.
      return Outcome(isChange: true, isMove: event.mask & Mask.folder != 0)
    }
  }

  private func read(_ body: (Notification) -> Void) throws(Errno) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(descriptor.rawValue, &buffer, buffer.count)
      if count > 0 {
        Notification.forEach(in: buffer[..<count], body)
      } else if count == 0 || errno == EAGAIN {
        return
      } else if errno != EINTR {
        throw .current
      }
    }
  }

  // MARK: - Watches

  /// Watches the deepest existing folder on the way to the file, and the folders above it.
  private func arm() throws(Errno) {
    for _ in 0..<16 {
      guard let path = path() else { throw .noSuchFileOrDirectory }
      let isComplete = try arm(path)
      if isComplete { return }
    }
    throw .resourceTemporarilyUnavailable
  }

  /// Returns `false` if a folder was created meanwhile.
  private func arm(_ path: String) throws(Errno) -> Bool {
    let old = state.withLock { state in
      defer { state.watches = [] }
      return state.watches
    }
    for watch in old { inotify_rm_watch(descriptor.rawValue, watch) }
    var folder = FilePath(path)
    var name = ""
    var watch: CInt = -1
    repeat {
      name = folder.lastComponent?.string ?? ""
      guard folder.removeLastComponent() else { throw .noSuchFileOrDirectory }
      watch = unsafe inotify_add_watch(descriptor.rawValue, folder.string, entries)
    } while watch < 0 && (errno == ENOENT || errno == ENOTDIR)
    guard watch >= 0 else { throw .current }
    let missing = folder.appending(name)
    let isOwnFolder = missing == FilePath(path)
    var watches: Set = [watch]
    while folder.removeLastComponent() {
      let above = unsafe inotify_add_watch(descriptor.rawValue, folder.string, Mask.itself)
      if above >= 0 {
        watches.insert(above)
      } else if errno == ENOSPC || errno == ENOMEM {
        throw .current
      }
      // A folder that cannot be watched belongs to somebody else, who doesn't move it.
    }
    state.withLock { state in
      state.folder = watch
      state.names = isOwnFolder ? suffixes.map { Set(([""] + $0).map { name + $0 }) } : [name]
      state.watches = watches
    }
    // Something other than a folder may have the next name.
    let isFolder = (try? Stat(missing))?.type == .directory
    return isOwnFolder || !isFolder
  }

  private enum Mask {
    static let ignored = UInt32(IN_IGNORED)
    static let overflow = UInt32(IN_Q_OVERFLOW)
    static let folder = UInt32(IN_ISDIR)
    static let gone = UInt32(IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)
    static let write = UInt32(IN_MODIFY)
    static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
    static let entries =
      UInt32(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR)
      | itself
  }
}

/// One notification of the kernel (inotify).
struct Notification {
  let watch: CInt
  let mask: UInt32
  let name: String?

  /// The fields before the name: watch, mask, cookie and the length of the name, 4 bytes each.
  private static let headCount = 16

  static func forEach(in bytes: ArraySlice<UInt8>, _ body: (Notification) -> Void) {
    var rest = bytes
    while rest.count >= headCount {
      let count = Int(field(3, of: rest))
      guard rest.count >= headCount + count else { return }
      let name = rest.dropFirst(headCount).prefix(count).prefix { $0 != 0 }
      body(
        Notification(
          watch: CInt(bitPattern: field(0, of: rest)), mask: field(1, of: rest),
          name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
      rest = rest.dropFirst(headCount + count)
    }
  }

  private static func field(_ index: Int, of bytes: ArraySlice<UInt8>) -> UInt32 {
    let field = bytes.dropFirst(index * 4).prefix(4)
    return unsafe field.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt32.self) }
  }
}

internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

/// Notices changes of all shared files in a folder, on one thread.
///
/// A user has few of the kernel's watches (128), and all suites of a user are in one folder.
final class FolderWatch: Sendable {
  /// What may have changed.
  struct Changes: OptionSet {
    let rawValue: Int
    static let file = Self(rawValue: 1)
    /// The text in the file of the sender's lock.
    static let lockText = Self(rawValue: 2)
    /// Who holds the lock.
    static let lock = Self(rawValue: 4)
    static let all: Self = [.file, .lockText, .lock]
  }

  typealias Handler = @Sendable (Changes) -> Void

  private struct State {
    /// By file name.
    var handlers: [String: [Int: Handler]] = [:]
    var lastNumber = 0
    var hasThread = false
    var watch: FileWatch?
  }

  private let folder: FilePath
  private let process = getpid()
  private let state = PosixMutex(State())

  /// A folder in one process: a forked child has none of its parent's threads.
  private struct Place: Hashable {
    let folder: FilePath
    let process: pid_t
  }

  private static let all = WeakRegistry<Place, FolderWatch>()

  private init(_ folder: FilePath) { self.folder = folder }

  /// Calls a closure when a file, or a file next to it, may have changed.
  static func observe(
    _ path: String, _ handler: @escaping Handler
  ) throws(Errno) -> PreferenceObservation {
    var folder = FilePath(path)
    let name = folder.lastComponent?.string ?? ""
    folder.removeLastComponent()
    let watch = all.object(for: Place(folder: folder, process: getpid())) { FolderWatch(folder) }
    let (number, needsThread) = watch.state.withLock { state in
      state.lastNumber += 1
      state.handlers[name, default: [:]][state.lastNumber] = handler
      defer { state.hasThread = true }
      return (state.lastNumber, !state.hasThread)
    }
    let observation = PreferenceObservation { watch.remove(name, number) }
    guard needsThread else { return observation }
    do throws(Errno) {
      try DetachedThread.start(named: "prefs-files") { watch.run() }
    } catch {
      // The next change of an observer starts the thread again.
      watch.state.withLock { $0.hasThread = false }
      observation.cancel()
      throw error
    }
    return observation
  }

  /// Removes a closure; returns when it is not running.
  private func remove(_ name: String, _ number: Int) {
    guard getpid() == process else { return }
    let watch: FileWatch? = state.withLock { state in
      state.handlers[name]?[number] = nil
      if state.handlers[name]?.isEmpty ?? false { state.handlers[name] = nil }
      return state.handlers.isEmpty ? state.watch : nil
    }
    watch?.cancel()
  }

  // MARK: - Thread

  private func run() {
    let place = folder.appending("any").string
    let isOnNetwork = FileSystemKind(of: folder.string).isNetwork
    while isWanted() {
      let watch = try? FileWatch(withSuffixes: nil, noticesEachWrite: true) { place }
      defer { watch?.close() }
      let isWanted = state.withLock { state in
        state.watch = watch
        return !state.handlers.isEmpty
      }
      guard isWanted else { continue }
      // Report changes from before the watch, too.
      notify(nil)
      guard let watch else {
        // Without notifications, poll.
        sleep(1)
        continue
      }
      // A notification can be lost, and a network file system sends none.
      while watch.wait(isOnNetwork ? 1000 : 60_000) == .changed { notify(watch.takeChanges()) }
    }
  }

  private func isWanted() -> Bool {
    state.withLock { state in
      state.watch = nil
      state.hasThread = !state.handlers.isEmpty
      return state.hasThread
    }
  }

  private func notify(_ changes: Set<FileWatch.Change>?) {
    guard let changes, !changes.isEmpty else {
      return state.withLock { state in
        for handler in state.handlers.values.flatMap(\.values) { handler(.all) }
      }
    }
    var found: [String: Changes] = [:]
    for change in changes {
      var (name, kind) = (change.name, Changes.file)
      if name.hasSuffix(SenderLock.suffix) {
        name.removeLast(SenderLock.suffix.count)
        kind = change.isWrite ? .lockText : [.lockText, .lock]
      } else if name.hasSuffix(Self.lockSuffix) {
        name.removeLast(Self.lockSuffix.count)
      }
      found[name, default: []].formUnion(kind)
    }
    state.withLock { state in
      for (name, changes) in found {
        for handler in (state.handlers[name] ?? [:]).values { handler(changes) }
      }
    }
  }

  private static let lockSuffix = "-lock"
}

internal import Foundation
internal import Prephirences
internal import PrephirencesFiles
internal import SystemPackage

extension Engine {
  /// Starts notifying an observer of the changes of all processes.
  ///
  /// - Throws: ``PreferencesError`` if those of others cannot be noticed; then nothing is observed.
  func addObserver(
    _ observer: PreferenceObserver, of preferences: some PreferencesType
  ) throws -> PreferenceObservation {
    // What was changed before is not reported, and what is known now is the old value of the next
    // change. Whoever reads gets the failures.
    try? refresh()
    try? learn(observer.keys)
    try watch.begin(self)
    let observation = observers.add(observer, of: preferences)
    return PreferenceObservation { [self] in
      observation.cancel()
      watch.end()
    }
  }

  /// Reads values into the cache.
  private func learn(_ keys: Set<PreferenceKey>?) throws {
    if let keys {
      for key in keys { _ = try fetch(key) }
    } else {
      try fetchAllIntoCache()
    }
  }
}

/// The thread that notices the changes of other processes, while there are observers.
///
/// Unchecked because the lock guards the properties.
final class EngineWatch: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  private var watch: FileWatch?

  func begin(_ engine: Engine) throws(PreferencesError) {
    lock.lock()
    defer { lock.unlock() }
    if watch == nil { watch = try start(engine) }
    count += 1
  }

  func end() {
    let ended: FileWatch? = lock.withLock {
      count -= 1
      guard count == 0 else { return nil }
      defer { watch = nil }
      return watch
    }
    ended?.cancel()
  }

  private func start(_ engine: Engine) throws(PreferencesError) -> FileWatch {
    let path = engine.file.lockPath
    let isOnNetwork = engine.file.isOnNetwork
    let watch: FileWatch
    do throws(Errno) {
      watch = try FileWatch(noticesEachWrite: true) { path }
    } catch {
      // The kernel's words for it are those of a full disk.
      if error == .noSpace || error == .tooManyOpenFiles {
        throw PreferencesError(
          .inputOutput,
          "this user watches too many files; raise fs.inotify.max_user_watches and "
            + "fs.inotify.max_user_instances with sysctl: \(path)", systemCode: error.rawValue)
      }
      throw PreferencesError(.failed(error, "watch", path))
    }
    let thread = Thread { [weak engine] in
      defer { watch.close() }
      // On a network, only a look shows what another machine has changed.
      while watch.wait(isOnNetwork ? 1000 : -1) == .changed {
        guard let engine else { return }
        try? engine.refresh()
      }
    }
    thread.name = "preferences"
    thread.start()
    return watch
  }
}

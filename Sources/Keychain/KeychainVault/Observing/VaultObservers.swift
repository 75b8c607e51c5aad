internal import KeychainCredentials
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// Notifies the observers of a handle about changes by the handle itself, other handles and processes.
///
/// While there are observers, one thread waits for the kernel's notification that the vault's file may have changed.
/// Where there are none, the next own changes and observers try again, and what was missed is reported then.
final class VaultObservers: Sendable {
  private enum Watching {
    case nobody
    case running(FileWatch)

    /// The kernel gave no notifications at this time.
    case impossible(since: ContinuousClock.Instant)
  }

  private let scanner: VaultChangeScanner
  private let file: VaultFile
  private let notice: (@Sendable (Notice) -> Void)?
  private let observers = CredentialObservers()
  private let watching = Mutex<Watching>(.nobody)

  init(_ configuration: VaultConfiguration, file: VaultFile, unlocker: Unlocker) {
    scanner = VaultChangeScanner(file: file, unlocker: unlocker, timeout: configuration.deadline)
    self.file = file
    notice = configuration.notice
  }

  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    let observation = observers.add(observer)
    update()
    // The observation outlives the handle, because others still change the vault.
    return CredentialObservation { [self] in
      observation.cancel()
      update()
    }
  }

  /// Reports a change that the handle itself made.
  func notify(_ change: CredentialChange) {
    observers.notify(change)
    mend()
  }

  /// Begins or ends watching, depending on whether there are observers.
  private func update() {
    let failure = watching.withLock { watching -> Errno? in
      switch (watching, observers.isEmpty) {
      case (.nobody, false):
        scanner.begin()
        return start(&watching)
      case (.running, true), (.impossible, true): stop(&watching)
      default: break
      }
      return nil
    }
    if let failure { reportUnavailable(failure) } else { mend() }
  }

  /// Tries to watch again if that was impossible, which was reported then.
  private func mend() {
    watching.withLock { watching in
      guard case .impossible(let last) = watching, last.duration(to: .now) >= .seconds(1) else {
        return
      }
      _ = start(&watching)
    }
  }

  private func start(_ watching: inout Watching) -> Errno? {
    do throws(Errno) {
      // A writer that stays may keep the file open.
      let watch = try FileWatch(noticesEachWrite: true) { [file] in try? file.path().path }
      do throws(Errno) {
        try DetachedThread.start(named: "vault-observer") { [self] in wait(on: watch) }
      } catch {
        watch.close()
        throw error
      }
      watching = .running(watch)
      return nil
    } catch {
      watching = .impossible(since: .now)
      return error
    }
  }

  private func stop(_ watching: inout Watching) {
    if case .running(let watch) = watching { watch.cancel() }
    watching = .nobody
    scanner.end()
  }

  private func wait(on watch: FileWatch) {
    defer { watch.close() }
    var hasWorked = false
    while true {
      // The first look is for what was changed before the kernel began to notify.
      let changes = scanner.changes()
      for change in changes ?? [] { observers.notify(change) }
      switch watch.wait(changes == nil ? 200 : -1) {
      case .changed: hasWorked = true
      case .ended: return
      case .failed(let error): return didFail(watch, error, startsAgain: hasWorked)
      }
    }
  }

  private func didFail(_ watch: FileWatch, _ error: Errno, startsAgain: Bool) {
    let failure = watching.withLock { watching -> Errno? in
      guard case .running(let current) = watching, current === watch else { return nil }
      // One that fails at once would do so again and again.
      guard startsAgain else {
        watching = .impossible(since: .now)
        return error
      }
      return start(&watching)
    }
    if let failure { reportUnavailable(failure) }
  }

  private func reportUnavailable(_ error: Errno) {
    notice?(
      Notice(
        kind: .observationUnavailable,
        message: "changes that other processes make to the vault are not noticed: "
          + "the kernel's notifications say \(error.words)"))
  }
}

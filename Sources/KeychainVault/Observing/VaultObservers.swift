internal import Foundation
internal import KeychainCredentials
internal import PrephirencesFiles
internal import Synchronization
internal import SystemPackage

/// Notifies the observers of a handle about changes by the handle itself, other handles and
/// processes.
///
/// While there are observers, one thread waits for the kernel's notification that the vault's file
/// may have changed, and then reports the differences. The handle reports its own changes directly.
final class VaultObservers: Sendable {
  private enum Watching {
    case nobody
    case running(FileWatch)

    /// The kernel gives no notifications.
    case impossible
  }

  private let scanner: VaultChangeScanner
  private let file: VaultFile
  private let notice: (@Sendable (Notice) -> Void)?
  private let observers = CredentialObservers()
  private let watching = Mutex<Watching>(.nobody)

  init(
    _ configuration: VaultConfiguration, file: VaultFile, unlocker: Unlocker, knownHead: KnownHead
  ) {
    scanner = VaultChangeScanner(
      file: file, unlocker: unlocker, knownHead: knownHead, timeout: configuration.deadline)
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
  func notify(_ change: CredentialChange) { observers.notify(change) }

  /// Reports that the handle itself renamed a credential.
  func notifyOfRenaming(_ old: CredentialIdentity, to new: CredentialIdentity) {
    observers.notifyOfRenaming(old, to: new)
  }

  /// Begins or ends watching, depending on whether there are observers.
  private func update() {
    let failure = watching.withLock { watching -> Errno? in
      switch (watching, observers.isEmpty) {
      case (.nobody, false): return begin(&watching)
      case (.running, true), (.impossible, true): stop(&watching)
      default: break
      }
      return nil
    }
    if let failure { reportUnavailable(failure) }
  }

  private func begin(_ watching: inout Watching) -> Errno? {
    do throws(Errno) {
      let watch = try FileWatch(withSuffixes: ["-journal"]) { [file] in try? file.path().path }
      // Done after the kernel began to notify and before anybody relies on it, so no change is
      // missed.
      scanner.begin()
      Thread { [self] in wait(on: watch) }.start()
      watching = .running(watch)
      return nil
    } catch {
      watching = .impossible
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
    Self.nameThread()
    var pause: CInt = -1
    while true {
      switch watch.wait(pause) {
      case .changed:
        let changes = scanner.changes()
        for change in changes ?? [] { observers.notify(change) }
        pause = changes == nil ? 200 : -1
      case .ended: return
      case .failed(let error): return fail(watch, error)
      }
    }
  }

  /// Names the calling thread for debuggers and `ps`.
  ///
  /// A `Thread.name` that is set around the start of its thread does not always reach the kernel.
  private static func nameThread() {
    let path: FilePath = "/proc/thread-self/comm"
    guard let name = try? FileDescriptor.open(path, .writeOnly, options: .closeOnExec) else {
      return
    }
    _ = try? name.closeAfter { try name.writeAll("vault-observer".utf8) }
  }

  private func fail(_ watch: FileWatch, _ error: Errno) {
    let isCurrent = watching.withLock { watching in
      guard case .running(let current) = watching, current === watch else { return false }
      watching = .impossible
      scanner.end()
      return true
    }
    if isCurrent { reportUnavailable(error) }
  }

  private func reportUnavailable(_ error: Errno) {
    notice?(
      Notice(
        kind: .observationUnavailable,
        message: "changes that other processes make to the vault are not noticed: "
          + "the kernel's notifications say \(error.words)"))
  }
}

internal import KeychainCredentials
internal import KeychainVault

extension Session {
  /// Calls `body` with a closure that shows how far the work has come.
  func withProgress<Result>(
    _ body: (@escaping (VaultProgress) -> Void) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    var shown = 0
    defer { if shown > 0 { interface.endProgress() } }
    return try body { progress in
      // A hundred lines of progress are enough for any vault, and a small one needs none.
      let step = max(progress.total / 100, 100)
      guard progress.completed >= shown + step else { return }
      shown = progress.completed
      interface.progress("\(progress.completed) of \(Words.items(progress.total))")
    }
  }
}

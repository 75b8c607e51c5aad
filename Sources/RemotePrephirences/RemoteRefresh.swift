internal import Foundation

/// Keeps loading preferences; it ends when this object is destroyed or cancelled.
public final class RemoteRefresh: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }

  /// Ends the loading; a load that is under way sets nothing any more, unless it is just setting.
  public func cancel() { task.cancel() }
}

extension RemoteSource {
  private static let shortestInterval = Duration.milliseconds(100)

  /// Loads the values now, and again and again.
  ///
  /// - Parameters:
  ///   - preferences: Where to set the values, on any thread.
  ///   - interval: How long to wait after each load; at least 0.1 s.
  ///   - jitter: By which part of the interval each wait is longer or shorter at random, so that many
  ///     clients do not ask at once.
  ///   - handler: Told how each load went, on any thread.
  /// - Returns: Keeps the loading alive.
  public func refresh(
    _ preferences: any MutablePreferencesType, every interval: Duration, jitter: Double = 0.1,
    _ handler: @escaping @Sendable (Result<RemoteOutcome, any Error>) -> Void = { _ in }
  ) -> RemoteRefresh {
    let target = RemoteTarget(preferences: preferences)
    let jitter = min(max(jitter, 0), 1)
    return RemoteRefresh(
      Task {
        while !Task.isCancelled {
          let result = await self.result(of: target)
          guard !Task.isCancelled else { return }
          handler(result)
          let wait = interval * Double.random(in: (1 - jitter)...(1 + jitter))
          try? await Task.sleep(for: max(wait, Self.shortestInterval))
        }
      })
  }

  /// Loads the values once, and says by a closure how it went.
  func load(
    into preferences: any MutablePreferencesType,
    _ handler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)?
  ) -> Task<Void, Never> {
    let target = RemoteTarget(preferences: preferences)
    return Task {
      let result = await self.result(of: target)
      handler?(result)
    }
  }

  private func result(
    of target: RemoteTarget
  ) async -> Result<RemoteOutcome, any Error> {
    do {
      return .success(try await load(into: target.preferences))
    } catch {
      return .failure(error)
    }
  }
}

/// Preferences that a load sets on another thread.
///
/// Unchecked because preferences need not be `Sendable`: who has them loaded in the background lets
/// other threads set them.
private struct RemoteTarget: @unchecked Sendable {
  let preferences: any MutablePreferencesType
}

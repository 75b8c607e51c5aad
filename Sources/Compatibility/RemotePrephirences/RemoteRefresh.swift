internal import Foundation

/// Loads preferences repeatedly; it ends when this object is destroyed or cancelled.
public final class RemoteRefresh: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }

  /// Ends the loading.
  ///
  /// A running load sets no values, unless it has already started to set them.
  public func cancel() { task.cancel() }
}

extension RemoteSource {
  private static let shortestInterval = Duration.milliseconds(100)

  /// Loads the values now and then repeatedly.
  ///
  /// - Parameters:
  ///   - preferences: The preferences to set, on any thread.
  ///   - interval: The time to wait after each load; at least 0.1 s.
  ///   - jitter: The fraction of the interval by which each wait varies at random, so that many
  ///     clients do not load at the same time.
  ///   - handler: Receives the result of each load, on any thread.
  /// - Returns: The refresh; loading ends when this object is destroyed.
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

  /// Loads the values once, and passes the result to a closure.
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
/// Unchecked because preferences need not be `Sendable`: a program that loads in the background
/// accepts that other threads set its preferences.
private struct RemoteTarget: @unchecked Sendable {
  let preferences: any MutablePreferencesType
}

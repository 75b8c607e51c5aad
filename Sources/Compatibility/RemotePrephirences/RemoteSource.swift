internal import Foundation
internal import PrephirencesSystem

/// Preferences at a URL, which are loaded into other preferences.
///
/// ```swift
/// var options = RemoteOptions()
/// options.copyPath = "/var/lib/mytool/remote.copy"
/// let source = RemoteSource("https://example.org/preferences.json", options: options)
/// try await source.load(into: preferences)
/// ```
///
/// A load merges: it sets the keys of the answer, and does not change others. A JSON `null` removes
/// its key. If the server reports that nothing has changed since the last answer, it does not send
/// it again, but the values are still set.
///
/// It is safe to use from several threads.
public final class RemoteSource: Sendable {
  private let url: Result<URL, any Error>
  private let format: SerializationFormat
  private let options: RemoteOptions
  private let fetch: RemoteFetch
  private let last = PosixMutex<RemoteCopy?>(nil)

  init(
    _ url: any URLConvertible, format: SerializationFormat, options: RemoteOptions,
    transport: any RemoteTransport
  ) {
    self.url = Result { try url.asURL() }
    self.format = format
    self.options = options
    fetch = RemoteFetch(transport: transport, options: options)
  }

  /// Loads the values once, and returns their origin.
  ///
  /// - Throws: ``RemoteError`` if there is neither a valid answer nor a copy of an earlier one, or
  ///   if the URL is refused; `CancellationError` if the task was cancelled. Nothing is set.
  @discardableResult
  public func load(
    into preferences: any MutablePreferencesType
  ) async throws -> RemoteOutcome {
    let url = try url.get()
    let last = lastCopy(of: url)
    do {
      let (values, outcome) = try await answer(url, last)
      try Task.checkCancellation()
      preferences.set(dictionary: values)
      return outcome
    } catch let error as RemoteError where !error.isMisuse {
      guard let last, let values = try? values(of: last.body) else { throw error }
      preferences.set(dictionary: values)
      return RemoteOutcome(origin: .copy, failure: error)
    }
  }

  private func answer(
    _ url: URL, _ last: RemoteCopy?
  ) async throws -> (PreferencesDictionary, RemoteOutcome) {
    let conditions = last?.conditions ?? [:]
    let response = try await fetch.response(
      to: RemoteRequest(url: url, headers: options.headers.merging(conditions) { $1 }))
    if response.status == 304 {
      guard let last else {
        throw RemoteError(.status, "the server answered with status 304", status: 304)
      }
      return (try values(of: last.body), RemoteOutcome(origin: .unchanged, failure: nil))
    }
    let values = try values(of: response.body)
    let failure = keep(RemoteCopy(url: url, response))
    return (values, RemoteOutcome(origin: .server, failure: failure))
  }

  private func values(of body: Data) throws(RemoteError) -> PreferencesDictionary {
    let values = try RemotePayload.values(of: body, format)
    do {
      try options.validate?(values)
    } catch {
      throw RemoteError(.invalid, "the values are not valid: \(error)")
    }
    return values
  }

  private func lastCopy(of url: URL) -> RemoteCopy? {
    let last = last.withLock(\.self) ?? options.copyPath.flatMap { RemoteCopy.read($0, of: url) }
    // The server must not confirm an answer that is no longer valid.
    guard let last, (try? values(of: last.body)) != nil else { return nil }
    return last
  }

  private func keep(_ copy: RemoteCopy) -> (any Error)? {
    last.withLock { $0 = copy }
    guard let path = options.copyPath else { return nil }
    do {
      try copy.write(path)
      return nil
    } catch {
      return error
    }
  }
}

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

  /// Loads the values now and then repeatedly, until the returned object is destroyed.
  ///
  /// - Parameters:
  ///   - preferences: The preferences to set, on any thread.
  ///   - interval: The time to wait after each load; at least 0.1 s.
  ///   - jitter: The fraction of the interval by which each wait varies at random, so that many
  ///       clients do not load at the same time.
  ///   - handler: Receives the result of each load, on any thread.
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

/// The last valid answer of a URL, and the data with which the server decides whether it is still
/// current.
struct RemoteCopy: Codable, Hashable, Sendable {
  private static let currentVersion = 1

  private var version = currentVersion

  /// The requested URL.
  let url: URL

  let entityTag: String?
  let lastModified: String?
  let body: Data

  init(url: URL, _ response: RemoteResponse) {
    self.url = url
    entityTag = response.headers["etag"]
    lastModified = response.headers["last-modified"]
    body = response.body
  }

  /// The headers that request an answer only if it has changed.
  var conditions: [String: String] {
    var conditions: [String: String] = [:]
    conditions["If-None-Match"] = entityTag
    conditions["If-Modified-Since"] = lastModified
    return conditions
  }

  /// Reads the copy in a file, or returns `nil` if it is missing, damaged, or of another URL.
  static func read(_ path: String, of url: URL) -> RemoteCopy? {
    guard let data = try? AtomicFile(path: path).read(),
      let copy = try? PropertyListDecoder().decode(RemoteCopy.self, from: data),
      copy.version == currentVersion, copy.url == url
    else { return nil }
    return copy
  }

  /// Replaces the file; only its owner can read a new one.
  func write(_ path: String) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    try AtomicFile(path: path).write(encoder.encode(self), atomically: true)
  }
}

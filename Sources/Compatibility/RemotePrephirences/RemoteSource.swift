internal import Foundation
internal import Synchronization

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
  private let last = Mutex<RemoteCopy?>(nil)

  init(
    _ url: any URLConvertible, format: SerializationFormat, options: RemoteOptions,
    transport: any RemoteTransport
  ) {
    self.url = Result { try url.asURL() }
    self.format = format
    self.options = options
    fetch = RemoteFetch(transport: transport, options: options)
  }

  /// Loads the values once.
  ///
  /// - Parameter preferences: The preferences to set.
  /// - Returns: The origin of the values.
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

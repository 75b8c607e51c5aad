internal import Foundation

/// One request for a URL.
struct RemoteRequest: Sendable {
  var url: URL
  var headers: [String: String]
}

/// The answer to one request; the names of headers are in lower case.
struct RemoteResponse: Sendable {
  var status: Int
  var headers: [String: String] = [:]

  /// The content of a successful answer.
  var body = Data()
}

/// Sends one request, without redirections and retries.
protocol RemoteTransport: Sendable {
  /// - Throws: ``RemoteError`` with ``RemoteError/Code/unreachable``,
  ///   ``RemoteError/Code/timedOut`` or ``RemoteError/Code/tooLarge``, or `CancellationError`.
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse
}

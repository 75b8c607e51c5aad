internal import Foundation

/// One request of a URL.
struct RemoteRequest: Sendable {
  var url: URL
  var headers: [String: String]
}

/// The answer to one request; the names of headers are in lower case.
struct RemoteResponse: Sendable {
  var status: Int
  var headers: [String: String] = [:]

  /// The content, of a success only.
  var body = Data()
}

/// Sends one request, without following or repeating anything.
protocol RemoteTransport: Sendable {
  /// - Throws: ``RemoteError`` with ``RemoteError/Code/unreachable``,
  ///   ``RemoteError/Code/timedOut`` or ``RemoteError/Code/tooLarge``, or `CancellationError`.
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse
}

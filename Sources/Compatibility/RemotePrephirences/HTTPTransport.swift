#if RemotePreferences
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// Sends requests with AsyncHTTPClient, over HTTP/1.1.
struct HTTPTransport: RemoteTransport {
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse {
    let client = HTTPClient(
      eventLoopGroupProvider: .singleton, configuration: Self.configuration(options))
    let result: Result<RemoteResponse, any Error>
    do {
      result = .success(try await Self.send(request, options, client))
    } catch {
      result = .failure(Self.translated(error))
    }
    // Not awaited: a pending name lookup would delay the result beyond the timeout.
    Task { try? await client.shutdown() }
    try Task.checkCancellation()
    return try result.get()
  }

  private static func configuration(_ options: RemoteOptions) -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .nanoseconds(options.connectTimeout.nanoseconds)))
    // Otherwise the client retries a refused connection until the timeout.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Each connection has one request, so HTTP/2 has no advantage.
    configuration.httpVersion = .http1Only
    configuration.http1_1ConnectionDebugInitializer = { channel in
      channel.eventLoop.submit {
        try channel.pipeline.syncOperations.addHandler(ConnectionLimit(options), position: .first)
      }
    }
    return configuration
  }

  private static func send(
    _ request: RemoteRequest, _ options: RemoteOptions, _ client: HTTPClient
  ) async throws -> RemoteResponse {
    var message = HTTPClientRequest(url: request.url.absoluteString)
    for (name, value) in request.headers { message.headers.replaceOrAdd(name: name, value: value) }
    let answer = try await client.execute(
      message, timeout: .nanoseconds(options.timeout.nanoseconds))
    var response = RemoteResponse(status: Int(answer.status.code))
    for (name, value) in answer.headers where response.headers[name.lowercased()] == nil {
      response.headers[name.lowercased()] = value
    }
    guard (200..<300).contains(response.status) else { return response }
    if let length = response.headers["content-length"].flatMap({ Int($0) }) {
      try check(length, options)
    }
    for try await var part in answer.body {
      try check(response.body.count + part.readableBytes, options)
      response.body.append(contentsOf: part.readBytes(length: part.readableBytes) ?? [])
    }
    return response
  }

  private static func check(_ count: Int, _ options: RemoteOptions) throws {
    guard count <= options.sizeLimit else {
      throw RemoteError.tooLarge(options)
    }
  }

  private static func translated(_ error: any Error) -> any Error {
    switch error {
    case is RemoteError, is CancellationError: error
    case let error as HTTPClientError where timeouts.contains(error):
      RemoteError(.timedOut, "the server did not answer in time")
    case let error as HTTPClientError where error == .cancelled: CancellationError()
    default: RemoteError(.unreachable, "the server cannot be reached: \(error)")
    }
  }

  private static let timeouts: [HTTPClientError] = [
    .connectTimeout, .deadlineExceeded, .readTimeout, .getConnectionFromPoolTimeout,
    .tlsHandshakeTimeout,
  ]
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return min(max(seconds, 0), 1 << 32) * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
#endif

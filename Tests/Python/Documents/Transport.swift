// Replaces the type that needs an HTTP client, which this check does not build.
struct HTTPTransport: RemoteTransport {
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse {
    RemoteResponse(status: 404)
  }
}

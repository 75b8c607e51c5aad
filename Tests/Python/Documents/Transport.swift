// Takes the place of what needs an HTTP client, which this check does without.
struct HTTPTransport: RemoteTransport {
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse {
    RemoteResponse(status: 404)
  }
}

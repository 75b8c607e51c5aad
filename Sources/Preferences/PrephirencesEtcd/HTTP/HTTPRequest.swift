/// A request to an endpoint.
struct HTTPRequest {
  var endpoint: EtcdConfiguration.Endpoint
  var path: String
  var token: Token?
  var body: [UInt8]
  /// The greatest answer that is read, in bytes.
  var answerLimit: Int
  /// Whether only a connection is made, with TLS 1.2.
  var isHandshake = false
  /// Whether the connection ends with the answer.
  ///
  /// Otherwise the gateway drops what it has not yet read of the request as soon as it answers.
  var endsConnection = false
}

/// A complete answer.
struct HTTPAnswer {
  var status: Int
  var body: [UInt8]
}

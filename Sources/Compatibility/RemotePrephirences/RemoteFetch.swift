internal import Foundation

/// Gets an answer: follows redirections, retries transient failures, and respects the timeout.
struct RemoteFetch: Sendable {
  private static let firstPause = Duration.milliseconds(200)
  private static let redirections: Set = [301, 302, 303, 307, 308]

  let transport: any RemoteTransport
  let options: RemoteOptions

  func response(to request: RemoteRequest) async throws -> RemoteResponse {
    let deadline = ContinuousClock.now + options.timeout
    return try await withThrowingTaskGroup(of: RemoteResponse.self) { group in
      group.addTask { try await repeating(request, until: deadline) }
      group.addTask {
        try await Task.sleep(until: deadline, clock: .continuous)
        throw RemoteError(.timedOut, "the server did not answer within \(options.timeout)")
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }

  private func repeating(
    _ request: RemoteRequest, until deadline: ContinuousClock.Instant
  ) async throws -> RemoteResponse {
    var pause = Self.firstPause
    for _ in 0..<max(0, options.retries) {
      do {
        return try await following(request)
      } catch let error as RemoteError where error.isTransient {
        let asked = Duration.seconds(min(error.retryAfter ?? 0, 86_400))
        let wait = max(asked, pause * Double.random(in: 0.5...1.5))
        // This failure says more than a timeout would.
        guard ContinuousClock.now + wait < deadline else { throw error }
        try await Task.sleep(for: wait)
        pause *= 2
      }
    }
    return try await following(request)
  }

  private func following(_ request: RemoteRequest) async throws -> RemoteResponse {
    var request = request
    var status: Int?
    for _ in 0...max(0, options.redirectLimit) {
      try check(request.url)
      let response = try await transport.send(request, options)
      guard Self.redirections.contains(response.status) else {
        return try checked(response)
      }
      status = response.status
      try redirect(&request, by: response)
    }
    throw RemoteError(
      .refused, "the server redirects more than \(options.redirectLimit) times", status: status)
  }

  private func check(_ url: URL) throws {
    guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      url.host?.isEmpty == false
    else { throw RemoteError.invalidURL(url.withoutSecrets) }
    guard scheme == "https" || options.allowsPlainHTTP else {
      throw RemoteError(.refused, "the URL '\(url.withoutSecrets)' is not encrypted (https)")
    }
  }

  private func checked(_ response: RemoteResponse) throws -> RemoteResponse {
    guard (200..<300).contains(response.status) || response.status == 304 else {
      throw RemoteError(
        .status, "the server answered with status \(response.status)", status: response.status,
        retryAfter: response.headers["retry-after"].flatMap { Int($0) })
    }
    return response
  }

  private func redirect(_ request: inout RemoteRequest, by response: RemoteResponse) throws {
    guard let location = response.headers["location"],
      let url = URL(string: location, relativeTo: request.url)?.absoluteURL
    else {
      throw RemoteError(
        .status, "the server redirects without a location", status: response.status)
    }
    if request.url.isEncrypted, !url.isEncrypted {
      throw RemoteError(
        .refused, "the server redirects to a URL that is not encrypted", status: response.status)
    }
    if request.url.origin != url.origin {
      for name in options.headers.keys { request.headers[name] = nil }
    }
    request.url = url
  }
}

extension URL {
  fileprivate var isEncrypted: Bool { scheme?.lowercased() == "https" }

  fileprivate var origin: [String?] {
    [scheme?.lowercased(), host?.lowercased(), (port ?? (isEncrypted ? 443 : 80)).description]
  }

  /// The URL without user, password and query, which may be secret.
  fileprivate var withoutSecrets: String {
    "\(scheme ?? "")://\(host ?? "")\(path)"
  }
}

/// Converts answers to values that every preference store accepts.
///
/// Numbers and truth values become Swift values. A `null` at the root removes the key; other nulls
/// are left out.
enum RemotePayload {
  static func values(
    of data: Data, _ format: SerializationFormat
  ) throws(RemoteError) -> PreferencesDictionary {
    guard let dictionary = try root(of: data, format) as? [String: Any] else {
      throw .notConvertibleToDictionary
    }
    return dictionary.mapValues { value(of: $0) as Any }
  }

  private static func root(
    of data: Data, _ format: SerializationFormat
  ) throws(RemoteError) -> Any {
    do {
      switch format {
      case .json(let options):
        return try JSONSerialization.jsonObject(with: data, options: options)
      case .propertyList: return try PropertyListReader.read(data).root.plain
      case .custom(let read): return try read(data)
      }
    } catch {
      throw malformed
    }
  }

  private static var malformed: RemoteError {
    RemoteError(.malformed, "the answer does not have the requested format")
  }

  private static func value(of object: Any) -> Any? {
    switch unwrapped(object) {
    case nil, is NSNull: nil
    case let number as NSNumber where type(of: object) is AnyClass: plain(number)
    case let text as String: text
    case let array as [Any]: array.compactMap { value(of: $0) }
    case let dictionary as [String: Any]: dictionary.compactMapValues { value(of: $0) }
    case let other?: other
    }
  }

  private static func plain(_ number: NSNumber) -> Any {
    // Only the two truth values are unique number objects.
    if [true, false].contains(where: { number === NSNumber(value: $0) }) {
      return number.boolValue
    }
    return switch unsafe String(cString: number.objCType) {
    case "d", "f": number.doubleValue
    case "Q": number.uint64Value
    default: number.intValue
    }
  }
}

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
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse
}

internal import PrephirencesSystem

/// Decides whether to send a request again.
struct RetryPolicy {
  private let endpoints: Int
  /// The addresses of the endpoints, as they appear in messages.
  private let names: [String]
  private var failures = 0
  private var logins = 0
  /// The last failure of each endpoint, the newest at the end.
  private var round: [EtcdError] = []

  init(_ configuration: EtcdConfiguration) {
    endpoints = max(configuration.endpoints.count, 1)
    // Longer names first: they can contain shorter ones.
    names = configuration.endpoints.map(\.authority).sorted { $0.utf8.count > $1.utf8.count }
  }

  /// Returns if the request should be sent again, after a pause if all endpoints have failed.
  mutating func allow(_ refusal: EtcdError, _ limits: CallLimits) throws {
    switch refusal.remedy {
    case .none, .noLogin: throw refusal
    case .newLogin:
      logins += 1
      guard logins == 1, !limits.deadline.hasPassed else { throw refusal }
    case .otherEndpoint, .later:
      let isOver = endsRound(refusal)
      failures += 1
      // A timeout says less than the failure of the last attempt.
      if refusal.code != .timedOut || round.isEmpty {
        round = (round + [refusal]).suffix(endpoints)
      }
      guard !limits.deadline.hasPassed, !isFinal(refusal) else { throw failure }
      guard isOver else { return }
      // Jitter keeps many machines from asking at the same time.
      let milliseconds = min(1000, 25 << min(failures / endpoints, 8))
      let pause = Deadline(after: .milliseconds(Int.random(in: milliseconds / 2...milliseconds)))
      _ = try Latch().wait(limits.within(pause))
      // Nobody would wait for the answer.
      guard !limits.deadline.hasPassed else { throw failure }
    }
  }

  /// Whether this is the failure of the last endpoint in a round.
  func endsRound(_ refusal: EtcdError) -> Bool {
    (refusal.remedy == .otherEndpoint || refusal.remedy == .later)
      && (failures + 1) % endpoints == 0
  }

  /// Whether to stop: a person must act, or this was the second round.
  private func isFinal(_ refusal: EtcdError) -> Bool {
    guard refusal.remedy == .otherEndpoint else { return false }
    let needsPerson =
      round.contains { $0.code == .certificate }
      && !round.contains { $0.remedy == .later }
    return failures >= (needsPerson ? endpoints : 2 * endpoints)
  }

  /// The failures of the endpoints, most useful first.
  ///
  /// The same failures give the same text, whichever endpoint was asked first.
  private var failure: EtcdError {
    var known: [EtcdError] = []
    for refusal in round where !known.contains(where: { $0.message == refusal.message }) {
      known.append(refusal)
    }
    known.sort { ($0.code.urgency, $0.message) < ($1.code.urgency, $1.message) }
    guard let first = known.first, known.count > 1 else { return known.first ?? .timedOut }
    // Several endpoints with the same failure are named once.
    var said: [(words: String, message: String, others: [String])] = []
    for refusal in known {
      let name = names.first { refusal.message.contains($0) }
      let words = name.map { refusal.message.replacing($0, with: "") } ?? refusal.message
      if let name, let index = said.firstIndex(where: { $0.words == words }) {
        said[index].others.append(name)
      } else {
        said.append((words, refusal.message, []))
      }
    }
    var messages = said.prefix(5).map { each in
      each.others.isEmpty
        ? each.message : "\(each.message) (also \(each.others.joined(separator: ", ")))"
    }
    if said.count > 5 { messages.append("and \(said.count - 5) more") }
    let others = messages.dropFirst().joined(separator: "; ")
    return EtcdError(
      first.code, messages[0] + (others.isEmpty ? "" : "; other endpoints: \(others)"),
      mayHaveHappened: known.contains { $0.mayHaveHappened })
  }
}

extension EtcdError.Code {
  /// Failures that do not pass by themselves have the lowest number, and are reported first.
  fileprivate var urgency: Int {
    switch self {
    case .timedOut: 3
    case .unreachable: 2
    case .protocolViolation: 1
    default: 0
    }
  }
}

extension EtcdError {
  /// What may help if the request was certainly not performed.
  enum Remedy: Hashable {
    case none
    /// The token is no longer valid.
    case newLogin
    /// The cluster needs no login.
    case noLogin
    /// Another endpoint, for two rounds at most.
    case otherEndpoint
    /// Another endpoint, or the same one later: the cluster elects a leader, or is busy.
    case later
  }

  init(_ code: Code, _ message: String, mayHaveHappened: Bool = false, remedy: Remedy) {
    self.init(code, message, mayHaveHappened: mayHaveHappened)
    self.remedy = remedy
  }

  func helped(by remedy: Remedy) -> EtcdError {
    EtcdError(code, message, mayHaveHappened: mayHaveHappened, remedy: remedy)
  }

  /// The failure of a request without an answer.
  var ofTransport: EtcdError {
    [.unreachable, .certificate, .timedOut].contains(code) ? helped(by: .otherEndpoint) : self
  }

  /// Runs code, and converts its failures of etcd.
  static func mapping<Result>(
    _ change: (EtcdError) -> EtcdError, of body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch let error as EtcdError { throw change(error) }
  }

  /// Whether a member has received the request without answering it.
  var isSilence: Bool { mayHaveHappened && (code == .unreachable || code == .timedOut) }
}

// What etcd, or a proxy in front of it, answers instead.
extension EtcdError {
  /// Reads an answer with a status other than 200.
  init(_ answer: HTTPAnswer, _ endpoint: EtcdConfiguration.Endpoint) {
    guard let body = try? JSONValue(answer: answer.body),
      let refusal = EtcdError(body, endpoint)
    else {
      self = Self.plain(answer, endpoint)
      return
    }
    self = refusal
  }

  /// Reads etcd's own error, or returns `nil` if there is none.
  init?(_ body: JSONValue, _ endpoint: EtcdConfiguration.Endpoint) {
    guard let code: Int = try? (body["code"] ?? body["grpc_code"])?.integer(),
      let text = try? (body["message"] ?? body["error"])?.string()
    else { return nil }
    self = Self.words(text.printable, code: code, endpoint.authority)
  }

  /// Explains a code of gRPC; etcd uses some for several meanings.
  private static func words(_ text: String, code: Int, _ place: String) -> EtcdError {
    let said = "etcd says: \(text)"
    switch code {
    case 3 where text.contains("authentication failed"):
      return EtcdError(.wrongPassword, "etcd does not accept the name and password")
    case 3 where text.contains("user name is empty"):
      return EtcdError(
        .passwordUnavailable, "the cluster asks for a name and a password; name both",
        remedy: .newLogin)
    // The token is unknown, or users have changed since. A new token can be outdated, too.
    case 16,
      3 where text.contains("auth store is old"):
      return EtcdError(.unreachable, "\(place) does not accept its own login", remedy: .newLogin)
    case 3 where text.contains("too large"), 3 where text.contains("too many operations"):
      return EtcdError(.tooLarge, said)
    case 8 where text.contains("database space exceeded"):
      return EtcdError(
        .noSpace, "the database of the cluster is full; its operator compacts and defragments it")
    case 8 where text.contains("larger than max"): return EtcdError(.tooLarge, said)
    case 8: return EtcdError(.unreachable, "\(place) is busy: \(text)", remedy: .later)
    case 7: return EtcdError(.permissionDenied, said)
    case 9 where text.contains("authentication is not enabled"):
      return EtcdError(.protocolViolation, said, remedy: .noLogin)
    case 5: return EtcdError(.notFound, said)
    case 11: return EtcdError(.compacted, said)
    // Only these two are reported before anything is done.
    case 14 where text == "etcdserver: no leader":
      return EtcdError(.unreachable, "the cluster has no leader", remedy: .later)
    case 14 where text.contains("not supported for learner"):
      return EtcdError(.unreachable, "\(place) is a learner", remedy: .otherEndpoint)
    case 1, 2, 4, 10, 13, 14, 15:
      return EtcdError(
        .unreachable, "\(place) gave up: \(text)", mayHaveHappened: true, remedy: .otherEndpoint)
    case 3, 6, 9, 12: return EtcdError(.protocolViolation, said)
    // An unknown code doesn't say whether the change happened.
    default:
      return EtcdError(.protocolViolation, said, mayHaveHappened: true, remedy: .otherEndpoint)
    }
  }

  /// Explains an answer that is not etcd's, but of its gateway or a proxy.
  private static func plain(
    _ answer: HTTPAnswer, _ endpoint: EtcdConfiguration.Endpoint
  ) -> EtcdError {
    let text = String(decoding: answer.body.prefix(400), as: UTF8.self).printable
    let place = endpoint.authority
    if answer.status == 400, text.contains("CommonName") {
      return EtcdError(
        .certificate,
        "the gateway of etcd refuses client certificates with a common name (CN); "
          + "use one without, together with a name and a password")
    }
    let error = EtcdError(
      .unreachable, "\(place) answers with the HTTP status \(answer.status)", mayHaveHappened: true)
    guard answer.status < 500 else { return error.helped(by: .otherEndpoint) }
    return EtcdError(
      .protocolViolation,
      "\(place) answers with the HTTP status \(answer.status), as etcd does not; "
        + "check the address and the proxy", mayHaveHappened: true, remedy: .otherEndpoint)
  }
}

extension String {
  /// The text without control characters, shortened.
  fileprivate var printable: String {
    String(decoding: utf8.prefix(300).filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
  }
}

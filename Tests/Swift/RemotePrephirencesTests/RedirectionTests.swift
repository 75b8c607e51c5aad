internal import Foundation
internal import Prephirences
internal import Synchronization
internal import Testing

@testable internal import RemotePrephirences

/// A network that has an answer for each URL; it represents encrypted servers, whose certificates a
/// test cannot have.
private final class Network: RemoteTransport {
  private let answers: [String: RemoteResponse]
  private let sent = Mutex<[RemoteRequest]>([])

  init(_ answers: [String: RemoteResponse]) { self.answers = answers }

  var requests: [RemoteRequest] { sent.withLock(\.self) }

  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse {
    sent.withLock { $0.append(request) }
    return answers[request.url.absoluteString] ?? RemoteResponse(status: 404)
  }
}

@Suite("Redirections between encrypted servers")
struct RedirectionTests {
  private func found(_ location: String) -> RemoteResponse {
    RemoteResponse(status: 302, headers: ["location": location])
  }

  private func load(
    _ network: Network, from url: String = "https://a.example/", _ options: RemoteOptions
  ) async throws -> PreferencesDictionary {
    let preferences = MutableDictionaryPreferences()
    let source = RemoteSource(url, format: .json(), options: options, transport: network)
    try await source.load(into: preferences)
    return preferences.dictionary()
  }

  private let good = RemoteResponse(status: 200, body: Data(#"{"a": 1}"#.utf8))

  @Test func redirectionToPlainHTTPIsNeverFollowed() async throws {
    var options = RemoteOptions()
    options.allowsPlainHTTP = true
    let network = Network([
      "https://a.example/": found("http://a.example/"), "http://a.example/": good,
    ])
    await #expect(throws: RemoteError.self) { try await load(network, options) }
    #expect(network.requests.count == 1)
    let read = try await load(network, from: "http://a.example/", options)
    #expect(read["a"] as? Int == 1)
  }

  @Test func onlyTheSameServerGetsTheHeaders() async throws {
    var options = RemoteOptions()
    options.headers = ["Authorization": "secret"]
    let network = Network([
      "https://a.example/": found("/b"), "https://a.example/b": found("https://a.example:444/"),
      "https://a.example:444/": good,
    ])
    _ = try await load(network, options)
    #expect(network.requests.map { $0.headers["Authorization"] } == ["secret", "secret", nil])
  }

  @Test func withoutTheOptionPlainHTTPIsNotAsked() async {
    let network = Network(["http://a.example/": good])
    await #expect(throws: RemoteError.self) {
      try await load(network, from: "http://a.example/", RemoteOptions())
    }
    #expect(network.requests.isEmpty)
  }

  @Test func aMessageHasNoSecretsOfTheURL() async {
    do {
      _ = try await load(
        Network([:]), from: "http://user:hunter2@a.example/p?token=hunter3", RemoteOptions())
      Issue.record("it was loaded")
    } catch {
      #expect("\(error)".contains("a.example") && !"\(error)".contains("hunter"))
    }
  }

  @Test func aCancelledLoadSetsNothing() async throws {
    let preferences = MutableDictionaryPreferences()
    let source = RemoteSource(
      "https://a.example/", format: .json(), options: RemoteOptions(),
      transport: Network(["https://a.example/": good]))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await source.load(into: preferences)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(preferences.dictionary().isEmpty)
  }
}

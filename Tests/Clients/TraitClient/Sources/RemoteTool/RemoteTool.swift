import Foundation
import RemotePrephirences

/// Loads preferences from a URL, and prints the result as JSON: one line for each load.
///
/// Usage: RemoteTool URL [NAME=VALUE]…
@main
enum RemoteTool {
  static func main() async throws {
    let arguments = Arguments(CommandLine.arguments.dropFirst())
    let preferences: MutableDictionaryPreferences = ["local": "kept", "colour": "local"]
    let source = RemoteSource(
      arguments.url, format: arguments.format, options: arguments.options)
    if let seconds = arguments["every"].flatMap(Double.init) {
      await CountedRefresh().run(
        source, preferences, every: .seconds(seconds),
        loads: arguments["loads"].flatMap { Int($0) } ?? 1
      ) { report($0, preferences) }
      // Leaves time for reports that must not come.
      try await Task.sleep(for: .seconds(seconds * 4))
      return
    }
    if arguments["spelling"] == "await" {
      report(.success(try await loaded(arguments, preferences)), preferences)
      return
    }
    if arguments["spelling"] == "handler" {
      await withCheckedContinuation { continuation in
        begin(arguments, preferences) { result in
          report(result, preferences)
          continuation.resume()
        }
      }
      return
    }
    for _ in 0..<(arguments["times"].flatMap { Int($0) } ?? 1) {
      do {
        report(.success(try await source.load(into: preferences)), preferences)
      } catch {
        report(.failure(error), preferences)
      }
    }
  }

  private static func loaded(
    _ arguments: Arguments, _ preferences: any MutablePreferencesType
  ) async throws -> RemoteOutcome {
    switch arguments["format"] {
    case "plist":
      try await preferences.loadPropertyList(from: arguments.url, options: arguments.options)
    case "any":
      try await preferences.load(
        from: arguments.url, format: arguments.format, options: arguments.options)
    default: try await preferences.loadJSON(from: arguments.url, options: arguments.options)
    }
  }

  /// The variants with a closure, for functions that do not wait.
  private static func begin(
    _ arguments: Arguments, _ preferences: MutableDictionaryPreferences,
    _ handler: @escaping @Sendable (Result<RemoteOutcome, any Error>) -> Void
  ) {
    let (url, options) = (arguments.url, arguments.options)
    switch arguments["format"] {
    case "plist":
      preferences.loadPropertyList(from: url, options: options, completionHandler: handler)
    case "any":
      preferences.load(
        from: url, format: arguments.format, options: options, completionHandler: handler)
    default: preferences.loadJSON(from: url, options: options, completionHandler: handler)
    }
  }

  private static func report(
    _ result: Result<RemoteOutcome, any Error>, _ preferences: MutableDictionaryPreferences
  ) {
    var report: [String: Any] = ["values": preferences.dictionary().mapValues { "\($0)" }]
    report["peak"] = peakMemory
    switch result {
    case .success(let outcome):
      report["origin"] = "\(outcome.origin)"
      report["failure"] = outcome.failure.map(name)
    case .failure(let error):
      report["error"] = name(error)
      report["message"] = "\(error)"
    }
    let data = try? JSONSerialization.data(withJSONObject: report, options: .sortedKeys)
    FileHandle.standardOutput.write((data ?? Data()) + Data("\n".utf8))
  }

  /// The peak resident memory of this process, in KiB.
  private static var peakMemory: Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }

  private static func name(_ error: any Error) -> String {
    let names: [RemoteError.Code: String] = [
      .invalidURL: "invalidURL", .refused: "refused", .unreachable: "unreachable",
      .timedOut: "timedOut", .status: "status", .tooLarge: "tooLarge", .malformed: "malformed",
      .notADictionary: "notADictionary", .invalid: "invalid",
    ]
    return (error as? RemoteError).flatMap { names[$0.code] } ?? "\(error)"
  }
}

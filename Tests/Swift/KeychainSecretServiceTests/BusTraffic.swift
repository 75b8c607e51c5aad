import Foundation

@testable import KeychainSecretService

/// The messages on a bus, as `dbus-monitor` prints them.
final class BusMonitor {
  private let child: Child
  private static let end = "EndOfMonitoring"

  /// Starts monitoring; the arguments are options, or rules for the messages to print.
  init(_ desktop: Desktop, _ arguments: String...) throws {
    let rules = arguments.contains { !$0.hasPrefix("-") } ? ["member='\(Self.end)'"] : []
    child = try Child(["stdbuf", "-oL", "dbus-monitor"] + arguments + rules, desktop.environment)
    child.finishInput()
    // The monitor first loses its own name, which other connections keep.
    _ = child.read(until: "NameLost")
  }

  deinit { child.end() }

  /// Returns the lines printed so far.
  func lines(_ desktop: Desktop) throws -> [Substring] {
    // Messages arrive in order: once this signal is seen, all earlier ones have been seen too.
    try desktop.run("dbus-send", "/", "org.prephirences.Test.\(Self.end)")
    return String(decoding: child.read(until: Self.end), as: UTF8.self).split(separator: "\n")
  }
}

/// Counts the calls to objects of the Secret Service on the bus.
struct BusTraffic {
  /// The number of calls by method.
  private(set) var calls: [String: Int] = [:]

  /// The methods in the order of their calls.
  private(set) var methods: [String] = []

  /// The greatest number of calls that waited for answers at the same time.
  private(set) var mostOutstanding = 0

  /// Counts the calls during `body`.
  init(_ desktop: Desktop, _ body: () throws -> Void) throws {
    let monitor = try BusMonitor(desktop, "--profile")
    try body()
    var outstanding: Set<String> = []
    for line in try monitor.lines(desktop) {
      let fields = line.split(separator: "\t").map(String.init)
      guard fields.count > 5 else { continue }
      switch fields[0] {
      case "mc" where fields[5].hasPrefix(ServiceOperation.servicePath):
        calls[fields[fields.count - 1], default: 0] += 1
        methods.append(fields[fields.count - 1])
        outstanding.insert(fields[3] + " " + fields[2])
        mostOutstanding = max(mostOutstanding, outstanding.count)
      case "mr", "err": outstanding.remove(fields[4] + " " + fields[5])
      default: break
      }
    }
  }
}

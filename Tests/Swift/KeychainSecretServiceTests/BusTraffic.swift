import Foundation

@testable import KeychainSecretService

/// What passes over a bus, as `dbus-monitor` prints it.
final class BusMonitor {
  private let child: Child
  private static let end = "EndOfMonitoring"

  /// Begins; the arguments are options, or rules for what to print.
  init(_ desktop: Desktop, _ arguments: String...) throws {
    let rules = arguments.contains { !$0.hasPrefix("-") } ? ["member='\(Self.end)'"] : []
    child = try Child(["stdbuf", "-oL", "dbus-monitor"] + arguments + rules, desktop.environment)
    child.finishInput()
    // It begins by losing the name that every other connection keeps.
    _ = child.read(until: "NameLost")
  }

  deinit { child.end() }

  /// What was printed until now.
  func lines(_ desktop: Desktop) throws -> [Substring] {
    // Messages come in order: once this signal is seen, so is everything before it.
    try desktop.run("dbus-send", "/", "org.prephirences.Test.\(Self.end)")
    return String(decoding: child.read(until: Self.end), as: UTF8.self).split(separator: "\n")
  }
}

/// The calls to objects of the Secret Service, counted at the bus.
struct BusTraffic {
  /// How many there were, by the name of their method.
  private(set) var calls: [String: Int] = [:]

  /// Their methods, as they came.
  private(set) var methods: [String] = []

  /// How many waited for their answers at once.
  private(set) var mostOutstanding = 0

  /// Counts while `body` runs.
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

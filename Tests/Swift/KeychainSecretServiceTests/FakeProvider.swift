import Foundation
import Testing

/// The provider in `Tests/Python/Process/fake_provider.py`, which misbehaves on demand.
final class FakeProvider {
  private let child: Child
  private let desktop: Desktop
  private let control: URL
  private var count = 0

  /// A signal: its object, interface and name, and the path in its body.
  struct Signal {
    let fields: [String]

    static func collection(_ name: String, _ item: String) -> Self {
      Self(fields: [FakeProvider.collection, "Collection", name, item])
    }

    static func service(_ name: String) -> Self {
      Self(
        fields: ["/org/freedesktop/secrets", "Service", name, FakeProvider.collection])
    }
  }

  static let collection = "/org/freedesktop/secrets/collection/login"

  /// Returns the path of an account's item; there are `alice`, which is ours, and `bob`, another
  /// program's.
  static func path(of account: String) -> String { collection + "/" + account }

  /// Starts the provider on the bus of a desktop that has none.
  init(_ desktop: Desktop) throws {
    self.desktop = desktop
    let runtime = try #require(desktop.environment["XDG_RUNTIME_DIR"])
    control = URL(filePath: runtime).appending(path: "misbehaviour")
    try Data(#"{"of": "nothing", "as": "honest"}"#.utf8).write(to: control)
    let program = URL(filePath: #filePath)
      .appending(path: "../../../Python/Process/fake_provider.py").standardizedFileURL
    child = try Child(["/usr/bin/python3", "-B", program.path, control.path], desktop.environment)
    child.finishInput()
    try #require(!child.read(until: "READY\n").isEmpty, "the fake provider did not start")
  }

  deinit { child.end() }

  /// Changes the behaviour, and sends signals.
  ///
  /// The items of the accounts in `missing` do not exist. The objects in `locked` are locked until
  /// a prompt unlocks them.
  func behave(
    _ what: String = "nothing", as how: String = "honest", without missing: [String] = [],
    locked: [String] = [], signals: [Signal] = []
  ) throws {
    count += 1
    let wanted: [String: Any] = [
      "of": what, "as": how, "without": missing, "locked": locked, "asks": true,
      "signals": signals.map(\.fields), "count": count,
    ]
    try JSONSerialization.data(withJSONObject: wanted).write(to: control, options: .atomic)
    // It reads the file before each answer.
    try desktop.callService("ReadAlias", "string:default")
  }
}

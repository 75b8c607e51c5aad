import FaultTesting

extension Child {
  /// Starts a process on the suite of a home; without arguments, it reads commands.
  init(
    _ arguments: [String] = [], in home: TestHome, environment: [String: String] = [:]
  ) throws {
    try self.init(
      running: "PreferencesTool", ["session", home.suite] + arguments,
      environment: home.environment.merging(environment) { _, given in given })
  }
}

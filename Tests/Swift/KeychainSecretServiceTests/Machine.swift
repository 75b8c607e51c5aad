import Foundation
import Glibc
import Testing

// Tests are skipped if the machine lacks something that they need; if CI is set, they fail instead.
extension Trait where Self == ConditionTrait {
  /// For tests that run programs as other users.
  static var superuser: Self {
    .enabled("needs the superuser: run Scripts/test as root") {
      geteuid() == 0 || !(ProcessInfo.processInfo.environment["CI"] ?? "").isEmpty
    }
  }
}

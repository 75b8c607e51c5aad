import Foundation
import Glibc
import Testing

// What a machine may not offer to the tests is skipped, and fails where CI is set.
extension Trait where Self == ConditionTrait {
  /// For tests that run programs as other users.
  static var superuser: Self {
    .enabled("needs the superuser: run Scripts/test as root") {
      geteuid() == 0 || !(ProcessInfo.processInfo.environment["CI"] ?? "").isEmpty
    }
  }
}

internal import Glibc

/// What a user namespace hides about the owners of files; see user_namespaces(7).
///
/// systemd's user services with PrivateTmp or ProtectSystem, `unshare --user`, bubblewrap and
/// rootless containers run in one. Every user without a number in the namespace is shown with the
/// same overflow number, so root of the machine looks like any other user.
enum UserNamespace {
  /// Whether a number may stand for a user without a number here.
  static func hidesOwner(_ user: UInt32) -> Bool {
    guard user == overflow, let map = SystemText.contents(of: "/proc/self/uid_map") else {
      return false
    }
    return hides(map, user, from: geteuid())
  }

  /// Whether a namespace with this `uid_map` shows users without a number by the overflow number.
  ///
  /// Rootless podman maps 65,536 users, and one of them has that number, too. Root of the machine has
  /// none there: an owner with the overflow number may be either.
  static func hides(_ map: String, _ overflow: UInt32, from ownUser: UInt32) -> Bool {
    // Each line: the first number inside, the first outside, and how many.
    let ranges = map.split(separator: "\n").map { line in
      line.split(separator: " ").compactMap { UInt64($0) }
    }.filter { $0.count == 3 }
    let has = { (user: UInt32, column: Int) in
      ranges.contains { $0[column] <= user && UInt64(user) - $0[column] < $0[2] }
    }
    return !has(overflow, 0) || (ownUser != overflow && !has(0, 1))
  }

  /// The number of users without one; a setting of the whole machine.
  private static let overflow =
    SystemText.number(in: "/proc/sys/kernel/overflowuid").flatMap { UInt32(exactly: $0) } ?? 65534
}

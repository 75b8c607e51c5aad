internal import Glibc

/// What a user namespace hides about the owners of files; see user_namespaces(7).
///
/// systemd's user services with PrivateTmp or ProtectSystem, `unshare --user`, bubblewrap and
/// rootless containers run in one. Every user without a number in the namespace is shown with the
/// same overflow number, so root of the machine looks like any other user.
enum UserNamespace {
  /// Whether a number stands for all users without a number here.
  ///
  /// Returns `false` if it is also the number of a user of the namespace, as in containers that map
  /// 65,536 users: then the owner counts as that user.
  static func hidesOwner(_ user: UInt32) -> Bool {
    guard user == overflow, let map = SystemText.contents(of: "/proc/self/uid_map") else {
      return false
    }
    return !maps(map, user)
  }

  /// Whether the text of a `uid_map` maps a user: `number inside, number outside, count`.
  static func maps(_ map: String, _ user: UInt32) -> Bool {
    map.split(separator: "\n").contains { line in
      let numbers = line.split(separator: " ").compactMap { UInt64($0) }
      guard numbers.count == 3 else { return false }
      return UInt64(user) >= numbers[0] && UInt64(user) - numbers[0] < numbers[2]
    }
  }

  /// The number of users without one; a setting of the whole machine.
  private static let overflow =
    SystemText.number(in: "/proc/sys/kernel/overflowuid").flatMap { UInt32(exactly: $0) } ?? 65534
}

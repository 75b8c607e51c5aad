internal import Glibc

/// What a user namespace hides of the owners of files; see user_namespaces(7).
///
/// systemd's user services with PrivateTmp or ProtectSystem, `unshare --user`, bubblewrap and containers
/// without root run in one. Every user who has no number in it is shown under the same one, the overflow
/// number: root of the machine and any other user cannot be told apart then.
enum UserNamespace {
  /// Whether a number stands for all the users who have none here.
  ///
  /// Where it is also the number of a user of the namespace, as in containers that map 65,536 of them, this
  /// is `false`: the owner then counts as that user.
  static func hidesOwner(_ user: UInt32) -> Bool {
    guard user == overflow, let map = SystemText.contents(of: "/proc/self/uid_map") else {
      return false
    }
    return !maps(map, user)
  }

  /// Whether the text of a `uid_map` gives a number to a user: `number in here, number outside, count`.
  static func maps(_ map: String, _ user: UInt32) -> Bool {
    map.split(separator: "\n").contains { line in
      let numbers = line.split(separator: " ").compactMap { UInt64($0) }
      guard numbers.count == 3 else { return false }
      return UInt64(user) >= numbers[0] && UInt64(user) - numbers[0] < numbers[2]
    }
  }

  /// The number of those who have none; a setting of the whole machine.
  private static let overflow =
    SystemText.number(in: "/proc/sys/kernel/overflowuid").flatMap { UInt32(exactly: $0) } ?? 65534
}

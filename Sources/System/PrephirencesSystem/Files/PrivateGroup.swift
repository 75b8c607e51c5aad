internal import Glibc

/// The group that many systems create for each user, without other members.
///
/// With it, `umask 002` is usual: the user's files are writable by the group, which is the user
/// alone. The members of a group are known only if `/etc/passwd` and `/etc/group` list all users
/// and groups. A directory on the network may give its users the same numbers, and a container does
/// not show the users of its machine.
struct PrivateGroup {
  /// The lists of users and groups, as text; `nil` if there is none.
  struct Databases {
    var passwd: String?
    var group: String?

    /// The configured sources of users and groups; if it is missing, the two files.
    var sources: String?

    /// The maps of the users and groups of the machine to this user namespace.
    var maps: [String?]

    /// Whether there are signs of users that the files do not list.
    var hasOtherUsers: Bool

    static var current: Self {
      Self(
        passwd: SystemText.contents(of: "/etc/passwd"),
        group: SystemText.contents(of: "/etc/group"),
        sources: SystemText.contents(of: "/etc/nsswitch.conf"),
        maps: ["uid", "gid"].map { SystemText.contents(of: "/proc/self/\($0)_map") },
        hasOtherUsers: signsOfOtherUsers.contains { unsafe access($0, F_OK) == 0 })
    }

    /// Files of container engines, and sockets that report users to systemd, as systemd-homed's.
    private static let signsOfOtherUsers = [
      "/.dockerenv", "/run/.containerenv", "/run/systemd/container", "/etc/userdb", "/run/userdb",
      "/run/systemd/userdb/io.systemd.Home",
    ]
  }

  private let databases: Databases

  init(_ databases: Databases = .current) { self.databases = databases }

  /// Whether the group certainly belongs to the user, and has no other member.
  func isAlone(_ group: UInt32, of user: UInt32) -> Bool {
    guard areWhole, let passwd = Self.lines(of: databases.passwd, 7),
      let groups = Self.lines(of: databases.group, 4)
    else { return false }
    let (user, group) = (String(user), String(group))
    let own = Set(passwd.filter { $0[2] == user }.map { $0[0] })
    let ofGroup = passwd.filter { $0[3] == group }
    let entries = groups.filter { $0[2] == group }
    return !ofGroup.isEmpty && ofGroup.allSatisfy { $0[2] == user } && !entries.isEmpty
      && entries.allSatisfy { entry in
        // Anybody who knows the password of a group can join it.
        ["", "x", "*", "!"].contains(entry[1])
          && entry[3].split(separator: ",").allSatisfy { own.contains(String($0)) }
      }
  }

  /// Whether the two files list every user and group.
  private var areWhole: Bool {
    let isWholeMachine = databases.maps.allSatisfy { map in
      map?.split(whereSeparator: \.isWhitespace) == ["0", "0", "4294967295"]
    }
    guard isWholeMachine, !databases.hasOtherUsers else { return false }
    let lines = (databases.sources ?? "").split(separator: "\n").map { $0.prefix { $0 != "#" } }
    return lines.allSatisfy { line in
      let words = line.split(whereSeparator: { $0.isWhitespace || $0 == ":" })
      guard let database = words.first, ["passwd", "group", "initgroups"].contains(database) else {
        return true
      }
      // `systemd` adds the users of services, whose numbers nobody else has.
      return words.dropFirst().allSatisfy { ["files", "systemd"].contains($0) }
    }
  }

  /// Returns the fields of each line; `nil` if the file is missing, if a line has another number of
  /// fields, or if it names another source.
  private static func lines(of text: String?, _ count: Int) -> [[String]]? {
    guard let text else { return nil }
    var lines: [[String]] = []
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == count, fields[0].first != "+", fields[0].first != "-" else {
        return nil
      }
      lines.append(fields)
    }
    return lines
  }
}

internal import Glibc

/// The group that many systems make for each user, of which nobody else is a member.
///
/// With it, `umask 002` is usual: what the user makes is writable by the group, which is the user alone.
/// Who is in a group is known only if all users and groups are in `/etc/passwd` and `/etc/group`. A
/// directory on the network may give its users the same numbers, and a container does not show the
/// users of its machine.
struct PrivateGroup {
  /// What lists the users and groups, as text; `nil` if there is none.
  struct Databases {
    var passwd: String?
    var group: String?

    /// The sources of users and groups; without it, they are the two files.
    var sources: String?

    /// The numbers of the users and groups of the machine in this user namespace.
    var maps: [String?]

    /// Whether something shows that there are users whom the files do not name.
    var hasOtherUsers: Bool

    static var current: Self {
      Self(
        passwd: SystemText.contents(of: "/etc/passwd"),
        group: SystemText.contents(of: "/etc/group"),
        sources: SystemText.contents(of: "/etc/nsswitch.conf"),
        maps: ["uid", "gid"].map { SystemText.contents(of: "/proc/self/\($0)_map") },
        hasOtherUsers: signsOfOtherUsers.contains { unsafe access($0, F_OK) == 0 })
    }

    /// What container engines leave, and where systemd-homed and others tell systemd of users.
    private static let signsOfOtherUsers = [
      "/.dockerenv", "/run/.containerenv", "/run/systemd/container", "/etc/userdb", "/run/userdb",
      "/run/systemd/userdb/io.systemd.Home",
    ]
  }

  private let databases: Databases

  init(_ databases: Databases = .current) { self.databases = databases }

  /// Whether a group is the user's own and has no other member, and that is certain.
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
        // Whoever knows the password of a group can join it.
        ["", "x", "*", "!"].contains(entry[1])
          && entry[3].split(separator: ",").allSatisfy { own.contains(String($0)) }
      }
  }

  /// Whether the two files have every user and group that there is here.
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
      // The users of services, to whom systemd gives numbers that nobody else has.
      return words.dropFirst().allSatisfy { ["files", "systemd"].contains($0) }
    }
  }

  /// Returns the fields of each line; `nil` if the file is missing, or a line has others or names another source.
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

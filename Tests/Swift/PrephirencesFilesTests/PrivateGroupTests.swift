import Testing

@testable import PrephirencesSystem

@Suite("Groups of one user")
struct PrivateGroupTests {
  private let known = PrivateGroup.Databases(
    passwd: """
      root:x:0:0:root:/root:/bin/sh
      alice:x:1000:1000::/home/alice:/bin/sh
      bob:x:1001:1001::/home/bob:/bin/sh
      """,
    group: "root:x:0:\nalice:x:1000:\nbob:x:1001:bob\nstaff:x:50:\n",
    sources: "passwd: files systemd\ngroup: files # local\nhosts: files dns\n",
    maps: ["         0          0 4294967295\n", "0 0 4294967295\n"], hasOtherUsers: false)

  private func isAlone(
    _ group: UInt32 = 1000, _ change: (inout PrivateGroup.Databases) -> Void = { _ in }
  ) -> Bool {
    var databases = known
    change(&databases)
    return PrivateGroup(databases).isAlone(group, of: group == 1001 ? 1001 : 1000)
  }

  @Test func groupOfTheUserAloneIsKnown() {
    #expect(isAlone() && isAlone(1001))
    #expect(isAlone { $0.sources = nil } && isAlone { $0.group?.append("more:x:1000:alice\n") })
    #expect(isAlone { $0.passwd?.append("\nalias:x:1000:1000::/:/bin/sh\n") })
    #expect(!isAlone(50) && !isAlone(0) && !isAlone(77))
  }

  @Test func otherMembersAreFound() {
    #expect(!isAlone { $0.group = "alice:x:1000:bob\n" })
    #expect(!isAlone { $0.group?.append("more:x:1000:bob\n") })
    #expect(!isAlone { $0.passwd?.append("\ncarol:x:1002:1000::/:/bin/sh\n") })
    // Anyone who knows the password may join.
    #expect(!isAlone { $0.group = "alice:$6$salt$hash:1000:\n" })
  }

  @Test func incompleteAnswersAreRefused() {
    #expect(!isAlone { $0.passwd = nil } && !isAlone { $0.group = nil })
    #expect(!isAlone { $0.group = "" } && !isAlone { $0.passwd = "root:x:0:0::/:/bin/sh" })
    #expect(
      !isAlone { $0.passwd?.append("\n+::::::\n") } && !isAlone { $0.group?.append("+:::\n") })
    #expect(!isAlone { $0.group?.append("torn:x\n") })
    for sources in [
      "passwd: files ldap", "group: files [SUCCESS=merge] sss", "initgroups:nis", "passwd: compat",
    ] {
      #expect(!isAlone { $0.sources = sources }, "\(sources)")
    }
    #expect(!isAlone { $0.maps[1] = "0 100000 65536\n" } && !isAlone { $0.maps[0] = nil })
    #expect(!isAlone { $0.hasOtherUsers = true })
  }
}
